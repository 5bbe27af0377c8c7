#include <csrc/jit/frontend/tree_syntax.h>
#include <csrc/jit/frontend/tree_views.h>
#include <csrc/jit/serialize/stack_room.h>

namespace torch::jit {

namespace {

TreeRef compound(int kind, const Syntax& syntax) {
  TreeList trees;
  for (const SyntaxPtr& child : syntax.children) {
    trees.push_back(toTree(*child));
  }
  return Compound::create(kind, syntax.range, std::move(trees));
}

template <class T>
T view(const Syntax& syntax) {
  return T(toTree(syntax));
}

template <class T>
List<T> list(const Syntax& sequence) {
  return List<T>(compound(TK_LIST, sequence));
}

template <class T>
Maybe<T> maybe(const Syntax& optional) {
  if (optional.is(SyntaxKind::Missing)) {
    return Maybe<T>::create(optional.range);
  }
  return Maybe<T>::create(optional.range, view<T>(optional));
}

Ident ident(const Syntax& named) {
  return Ident::create(named.range, named.text);
}

TreeRef binary(const Syntax& syntax) {
  if (syntax.text == "not in") {
    return UnaryOp::create(syntax.range, TK_NOT, Expr(compound(TK_IN, syntax)));
  }
  return compound(stringToKind(syntax.text), syntax);
}

TreeRef unary(const Syntax& syntax) {
  if (syntax.text == "-" && syntax[0].is(SyntaxKind::Number)) {
    return Const::create(syntax[0].range, "-" + syntax[0].text);
  }
  return compound(syntax.text == "-" ? TK_UNARY_MINUS : stringToKind(syntax.text), syntax);
}

// `for a, b in pairs` has two targets.
TreeRef for_loop(const Syntax& syntax) {
  const Syntax& target = syntax[0];
  const List<Expr> targets =
      target.is(SyntaxKind::Tuple) ? list<Expr>(target) : List<Expr>::create(target.range, {view<Expr>(target)});
  const List<Expr> iterables = List<Expr>::create(syntax[1].range, {view<Expr>(syntax[1])});
  return For::create(syntax.range, targets, iterables, list<Stmt>(syntax[2]));
}

TreeRef return_value(const Syntax& syntax) {
  const Expr value = syntax.has(0) ? view<Expr>(syntax[0]) : Expr(Compound::create(TK_NONE, syntax.range, {}));
  return Return::create(syntax.range, value);
}

TreeRef class_definition(const Syntax& syntax) {
  const Syntax& bases = syntax[0];
  if (bases.size() > 1) {
    throw ErrorReport(bases.range) << "a class has at most one base, but this one has " << bases.size();
  }
  const Maybe<Expr> base =
      bases.size() == 0 ? Maybe<Expr>::create(bases.range) : Maybe<Expr>::create(bases.range, view<Expr>(bases[0]));
  return ClassDef::create(syntax.range, ident(syntax), base, list<Stmt>(syntax[1]));
}

TreeRef statement(const Syntax& syntax) {
  const SourceRange& range = syntax.range;
  switch (syntax.kind) {
    case SyntaxKind::Expression:
      return compound(TK_EXPR_STMT, syntax);
    case SyntaxKind::Assign:
      return Assign::create(range, list<Expr>(syntax[0]), maybe<Expr>(syntax[1]), maybe<Expr>(syntax[2]));
    case SyntaxKind::AugmentedAssign:
      return AugAssign::create(
          range, view<Expr>(syntax[0]), AugAssignKind(Compound::create(stringToKind(syntax.text), range, {})),
          view<Expr>(syntax[1]));
    case SyntaxKind::Return:
      return return_value(syntax);
    case SyntaxKind::If:
      return If::create(range, view<Expr>(syntax[0]), list<Stmt>(syntax[1]), list<Stmt>(syntax[2]));
    case SyntaxKind::While:
      return While::create(range, view<Expr>(syntax[0]), list<Stmt>(syntax[1]));
    case SyntaxKind::For:
      return for_loop(syntax);
    case SyntaxKind::With:
      return With::create(range, list<WithItem>(syntax[0]), list<Stmt>(syntax[1]));
    case SyntaxKind::Raise:
      return Raise::create(range, view<Expr>(syntax[0]));
    case SyntaxKind::Assert:
      return Assert::create(range, view<Expr>(syntax[0]), maybe<Expr>(syntax[1]));
    case SyntaxKind::Delete:
      return Delete::create(range, list<Expr>(syntax));
    case SyntaxKind::Global: {
      std::vector<Ident> names;
      for (const SyntaxPtr& name : syntax.children) {
        names.push_back(ident(*name));
      }
      return Global::create(range, List<Ident>::create(range, names));
    }
    case SyntaxKind::Pass:
      return Pass::create(range);
    case SyntaxKind::Break:
      return Break::create(range);
    case SyntaxKind::Continue:
      return Continue::create(range);
    case SyntaxKind::Function: {
      const Decl decl = Decl::create(syntax[0].range, list<Param>(syntax[0]), maybe<Expr>(syntax[1]));
      return Def::create(range, ident(syntax), decl, list<Stmt>(syntax[2]));
    }
    case SyntaxKind::Class:
      return class_definition(syntax);
    default:
      throw ErrorReport(range) << toString(syntax.kind) << " has no node of its own";
  }
}

} // namespace

TreeRef toTree(const Syntax& syntax) {
  check_stack_room("expressions");
  const SourceRange& range = syntax.range;
  switch (syntax.kind) {
    case SyntaxKind::Name:
      return Var::create(range, ident(syntax));
    case SyntaxKind::Number:
      return Const::create(range, syntax.text);
    case SyntaxKind::String:
      return StringLiteral::create(range, syntax.text);
    case SyntaxKind::True:
      return compound(TK_TRUE, syntax);
    case SyntaxKind::False:
      return compound(TK_FALSE, syntax);
    case SyntaxKind::None:
      return compound(TK_NONE, syntax);
    case SyntaxKind::Ellipsis:
      return Dots::create(range);
    case SyntaxKind::Binary:
      return binary(syntax);
    case SyntaxKind::Unary:
      return unary(syntax);
    case SyntaxKind::Conditional:
      return compound(TK_IF_EXPR, syntax);
    case SyntaxKind::Call:
      return Apply::create(range, view<Expr>(syntax[0]), list<Expr>(syntax[1]), list<Attribute>(syntax[2]));
    case SyntaxKind::Keyword:
      return Attribute::create(range, ident(syntax), toTree(syntax[0]));
    case SyntaxKind::Starred:
      return compound(TK_STARRED, syntax);
    case SyntaxKind::Attribute:
      return Select::create(range, view<Expr>(syntax[0]), ident(syntax));
    case SyntaxKind::Subscript:
      return Compound::create(TK_SUBSCRIPT, range, {toTree(syntax[0]), compound(TK_LIST, syntax[1])});
    case SyntaxKind::Slice:
      return SliceExpr::create(range, maybe<Expr>(syntax[0]), maybe<Expr>(syntax[1]), maybe<Expr>(syntax[2]));
    case SyntaxKind::Tuple:
      return TupleLiteral::create(range, list<Expr>(syntax));
    case SyntaxKind::List:
      return ListLiteral::create(range, list<Expr>(syntax));
    case SyntaxKind::Dict:
      return DictLiteral::create(range, list<Expr>(syntax[0]), list<Expr>(syntax[1]));
    case SyntaxKind::ListComprehension:
      return compound(TK_LIST_COMP, syntax);
    case SyntaxKind::DictComprehension:
      return compound(TK_DICT_COMP, syntax);
    case SyntaxKind::WithItem:
      return WithItem::create(range, view<Expr>(syntax[0]), maybe<Var>(syntax[1]));
    case SyntaxKind::Parameter:
      return Param::create(range, ident(syntax), maybe<Expr>(syntax[0]), maybe<Expr>(syntax[1]), syntax[2].size() > 0);
    default:
      return statement(syntax);
  }
}

} // namespace torch::jit
