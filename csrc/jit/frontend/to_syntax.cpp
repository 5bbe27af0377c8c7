#include <csrc/jit/frontend/token_names.h>
#include <csrc/jit/frontend/tree_syntax.h>
#include <csrc/jit/frontend/tree_views.h>
#include <csrc/jit/serialize/stack_room.h>

namespace torch::jit {

namespace {

SyntaxPtr node(SyntaxKind kind, const TreeView& view, SyntaxChildren&& children = {}) {
  return makeSyntax(kind, view.range(), {}, std::move(children));
}

SyntaxPtr node(SyntaxKind kind, const TreeView& view, std::string text, SyntaxChildren&& children = {}) {
  return makeSyntax(kind, view.range(), std::move(text), std::move(children));
}

SyntaxPtr syntax_of(const TreeView& view) {
  return toSyntax(view.get());
}

template <class T>
SyntaxChildren children_of(const List<T>& list) {
  SyntaxChildren children;
  for (const T each : list) {
    children.push_back(syntax_of(each));
  }
  return children;
}

template <class T>
SyntaxPtr sequence(const List<T>& list) {
  return node(SyntaxKind::Sequence, list, children_of(list));
}

template <class T>
SyntaxPtr optional(const Maybe<T>& maybe) {
  return maybe.present() ? syntax_of(maybe.get()) : node(SyntaxKind::Missing, maybe);
}

// Of one expression or several, which are a tuple.
SyntaxPtr one_or_tuple(const List<Expr>& list) {
  if (list.empty()) {
    throw ErrorReport(list) << "a for loop needs a target and something to go through";
  }
  return list.size() == 1 ? syntax_of(list[0]) : node(SyntaxKind::Tuple, list, children_of(list));
}

std::string operator_text(int kind) {
  return kind < TK_DUMMY_START ? kindToString(kind) : std::string(kTokenNames[static_cast<size_t>(kind - TK_EOF)].text);
}

SyntaxPtr number(const Const& number) {
  const std::string& text = number.text();
  if (text.empty() || text[0] != '-') {
    return node(SyntaxKind::Number, number, text);
  }
  return node(SyntaxKind::Unary, number, "-", {node(SyntaxKind::Number, number, text.substr(1))});
}

SyntaxPtr parameter(const Param& param) {
  SyntaxChildren marks;
  if (param.kwarg_only()) {
    marks.push_back(node(SyntaxKind::True, param));
  }
  return node(
      SyntaxKind::Parameter, param, param.ident().name(),
      {optional(param.type()), optional(param.defaultValue()), node(SyntaxKind::Sequence, param, std::move(marks))});
}

SyntaxPtr function(const Def& def) {
  return makeSyntax(
      SyntaxKind::Function, def.range(), def.name().name(),
      {sequence(def.decl().params()), optional(def.decl().return_type()), sequence(def.statements())});
}

SyntaxPtr names(const Global& global) {
  SyntaxChildren names;
  for (const Ident name : global.names()) {
    names.push_back(node(SyntaxKind::Name, name, name.name()));
  }
  return node(SyntaxKind::Global, global, std::move(names));
}

SyntaxPtr assignment(const Assign& assign) {
  return node(
      SyntaxKind::Assign, assign, {sequence(assign.lhs_list()), optional(assign.rhs()), optional(assign.type())});
}

SyntaxPtr augmented(const AugAssign& assign) {
  const int kind = assign.aug_op();
  AugAssignKind{assign.get()->tree(1)};
  return node(
      SyntaxKind::AugmentedAssign, assign, operator_text(kind), {syntax_of(assign.lhs()), syntax_of(assign.rhs())});
}

SyntaxPtr for_loop(const For& loop) {
  return node(SyntaxKind::For, loop, {one_or_tuple(loop.targets()), one_or_tuple(loop.itrs()), sequence(loop.body())});
}

SyntaxPtr statement(const Stmt& view) {
  const TreeRef& tree = view.get();
  switch (view.kind()) {
    case TK_EXPR_STMT:
      return node(SyntaxKind::Expression, view, {syntax_of(ExprStmt(tree).expr())});
    case TK_ASSIGN:
      return assignment(Assign(tree));
    case TK_AUG_ASSIGN:
      return augmented(AugAssign(tree));
    case TK_RETURN:
      return node(SyntaxKind::Return, view, {syntax_of(Return(tree).expr())});
    case TK_IF:
      return node(
          SyntaxKind::If, view,
          {syntax_of(If(tree).cond()), sequence(If(tree).trueBranch()), sequence(If(tree).falseBranch())});
    case TK_WHILE:
      return node(SyntaxKind::While, view, {syntax_of(While(tree).cond()), sequence(While(tree).body())});
    case TK_FOR:
      return for_loop(For(tree));
    case TK_WITH:
      return node(SyntaxKind::With, view, {sequence(With(tree).targets()), sequence(With(tree).body())});
    case TK_RAISE:
      return node(SyntaxKind::Raise, view, {syntax_of(Raise(tree).expr())});
    case TK_ASSERT:
      return node(SyntaxKind::Assert, view, {syntax_of(Assert(tree).test()), optional(Assert(tree).msg())});
    case TK_DELETE:
      return node(SyntaxKind::Delete, view, children_of(Delete(tree).targets()));
    case TK_GLOBAL:
      return names(Global(tree));
    case TK_PASS:
      return node(SyntaxKind::Pass, view);
    case TK_BREAK:
      return node(SyntaxKind::Break, view);
    case TK_CONTINUE:
      return node(SyntaxKind::Continue, view);
    default:
      return function(Def(tree));
  }
}

SyntaxPtr call(const Apply& call) {
  return node(SyntaxKind::Call, call, {syntax_of(call.callee()), sequence(call.inputs()), sequence(call.attributes())});
}

SyntaxPtr comprehension(const Expr& view) {
  SyntaxChildren parts;
  for (const TreeRef& part : view.get()->trees()) {
    parts.push_back(toSyntax(part));
  }
  const bool is_list = view.kind() == TK_LIST_COMP;
  view.get()->matchNumSubtrees(view.kind(), is_list ? 3 : 4);
  return node(is_list ? SyntaxKind::ListComprehension : SyntaxKind::DictComprehension, view, std::move(parts));
}

SyntaxPtr operation(const Expr& view) {
  if (view.get()->trees().size() == 1) {
    const UnaryOp unary(view.get());
    const int kind = unary.kind() == TK_UNARY_MINUS ? '-' : unary.kind();
    return node(SyntaxKind::Unary, view, operator_text(kind), {toSyntax(unary.get()->tree(0))});
  }
  const BinOp binary(view.get());
  return node(
      SyntaxKind::Binary, view, operator_text(binary.kind()), {syntax_of(binary.lhs()), syntax_of(binary.rhs())});
}

SyntaxPtr slice(const SliceExpr& slice) {
  return node(SyntaxKind::Slice, slice, {optional(slice.start()), optional(slice.end()), optional(slice.step())});
}

SyntaxPtr conditional(const TernaryIf& view) {
  return node(
      SyntaxKind::Conditional, view,
      {syntax_of(view.cond()), syntax_of(view.true_expr()), syntax_of(view.false_expr())});
}

SyntaxPtr expression(const Expr& view) {
  const TreeRef& tree = view.get();
  switch (view.kind()) {
    case TK_VAR:
      return node(SyntaxKind::Name, view, Var(tree).name().name());
    case TK_CONST:
      return number(Const(tree));
    case TK_STRINGLITERAL:
      return node(SyntaxKind::String, view, StringLiteral(tree).text());
    case TK_TRUE:
      return node(SyntaxKind::True, view);
    case TK_FALSE:
      return node(SyntaxKind::False, view);
    case TK_NONE:
      return node(SyntaxKind::None, view);
    case TK_NONE_TYPE:
      return node(SyntaxKind::Name, view, "NoneType");
    case TK_DOTS:
      return node(SyntaxKind::Ellipsis, view);
    case TK_IF_EXPR:
      return conditional(TernaryIf(tree));
    case TK_APPLY:
      return call(Apply(tree));
    case TK_STARRED:
      return node(SyntaxKind::Starred, view, {syntax_of(Starred(tree).expr())});
    case '.':
      return node(SyntaxKind::Attribute, view, Select(tree).selector().name(), {syntax_of(Select(tree).value())});
    case TK_SUBSCRIPT:
      return node(
          SyntaxKind::Subscript, view,
          {syntax_of(Subscript(tree).value()), sequence(Subscript(tree).subscript_exprs())});
    case TK_SLICE_EXPR:
      return slice(SliceExpr(tree));
    case TK_TUPLE_LITERAL:
      return node(SyntaxKind::Tuple, view, children_of(TupleLiteral(tree).inputs()));
    case TK_LIST_LITERAL:
      return node(SyntaxKind::List, view, children_of(ListLiteral(tree).inputs()));
    case TK_DICT_LITERAL:
      return node(
          SyntaxKind::Dict, view,
          {sequence(DictLiteral(tree).key_inputs()), sequence(DictLiteral(tree).value_inputs())});
    case TK_LIST_COMP:
    case TK_DICT_COMP:
      return comprehension(view);
    case TK_WITH_ITEM:
      return node(SyntaxKind::WithItem, view, {syntax_of(WithItem(tree).target()), optional(WithItem(tree).var())});
    default:
      return operation(view);
  }
}

} // namespace

SyntaxPtr toSyntax(const TreeRef& tree) {
  TORCH_CHECK(tree, "a tree of source code is null");
  check_stack_room("expressions");
  switch (tree->kind()) {
    case TK_PARAM:
      return parameter(Param(tree));
    case TK_ATTRIBUTE:
      return node(
          SyntaxKind::Keyword, Attribute(tree), Attribute(tree).name().name(), {syntax_of(Attribute(tree).value())});
    case TK_IF:
    case TK_FOR:
    case TK_WHILE:
    case TK_GLOBAL:
    case TK_ASSIGN:
    case TK_AUG_ASSIGN:
    case TK_RETURN:
    case TK_EXPR_STMT:
    case TK_RAISE:
    case TK_ASSERT:
    case TK_PASS:
    case TK_BREAK:
    case TK_DELETE:
    case TK_CONTINUE:
    case TK_DEF:
    case TK_WITH:
      return statement(Stmt(tree));
    default:
      return expression(Expr(tree));
  }
}

} // namespace torch::jit
