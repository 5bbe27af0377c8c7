// A class for each construct of the language, over the nodes of a Tree.
#pragma once

#include <c10/util/complex.h>
#include <csrc/jit/frontend/tree_view.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace torch::jit {

// ---- parts of calls and definitions ---------------------------------------------------------------------------------

/// `name=value` in a call.
struct TORCH_API Attribute : NodeView<Attribute, TK_ATTRIBUTE, 2> {
  using NodeView::NodeView;
  Ident name() const {
    return part<Ident>(0);
  }
  Expr value() const {
    return part<Expr>(1);
  }
  static Attribute create(const SourceRange& range, const Ident& name, const TreeRef& value) {
    return make(range, name, value);
  }
};

/// A parameter of a function.
struct TORCH_API Param : NodeView<Param, TK_PARAM, 4> {
  using NodeView::NodeView;
  Ident ident() const {
    return part<Ident>(0);
  }
  Maybe<Expr> type() const {
    return part<Maybe<Expr>>(1);
  }
  Maybe<Expr> defaultValue() const {
    return part<Maybe<Expr>>(2);
  }
  bool kwarg_only() const {
    return subtree(3)->kind() == TK_TRUE;
  }
  Param withType(const Maybe<Expr>& type) const {
    return create(range(), ident(), type, defaultValue(), kwarg_only());
  }
  static Param create(
      const SourceRange& range, const Ident& ident, const Maybe<Expr>& type, const Maybe<Expr>& def, bool kwarg_only) {
    return make(range, ident, type, def, Compound::create(kwarg_only ? TK_TRUE : TK_FALSE, range, {}));
  }
};

/// The parameters and the result of a function.
struct TORCH_API Decl : NodeView<Decl, TK_DECL, 2> {
  using NodeView::NodeView;
  List<Param> params() const {
    return part<List<Param>>(0);
  }
  Maybe<Expr> return_type() const {
    return part<Maybe<Expr>>(1);
  }
  static Decl create(const SourceRange& range, const List<Param>& params, const Maybe<Expr>& return_type) {
    return make(range, params, return_type);
  }
};

struct TORCH_API Def : NodeView<Def, TK_DEF, 3> {
  using NodeView::NodeView;
  Ident name() const {
    return part<Ident>(0);
  }
  Decl decl() const {
    return part<Decl>(1);
  }
  List<Stmt> statements() const {
    return part<List<Stmt>>(2);
  }
  Def withName(std::string new_name) const {
    return create(range(), Ident::create(name().range(), std::move(new_name)), decl(), statements());
  }
  Def withDecl(const Decl& decl) const {
    return create(range(), name(), decl, statements());
  }
  static Def create(const SourceRange& range, const Ident& name, const Decl& decl, const List<Stmt>& stmts) {
    return make(range, name, decl, stmts);
  }
};

/// An attribute of a class that a method computes, and maybe another one sets.
struct TORCH_API Property : NodeView<Property, TK_PROP, 3> {
  using NodeView::NodeView;
  Ident name() const {
    return part<Ident>(0);
  }
  Def getter() const {
    return part<Def>(1);
  }
  Maybe<Def> setter() const {
    return part<Maybe<Def>>(2);
  }
  static Property create(const SourceRange& range, const Ident& name, const Def& getter, const Maybe<Def>& setter) {
    return make(range, name, getter, setter);
  }
};

// ---- statements -----------------------------------------------------------------------------------------------------

struct TORCH_API If : StmtView<If, TK_IF, 3> {
  using NodeView::NodeView;
  Expr cond() const {
    return part<Expr>(0);
  }
  List<Stmt> trueBranch() const {
    return part<List<Stmt>>(1);
  }
  List<Stmt> falseBranch() const {
    return part<List<Stmt>>(2);
  }
  If withNewBranches(const List<Stmt>& true_branch, const List<Stmt>& false_branch) const {
    return create(range(), cond(), true_branch, false_branch);
  }
  static If create(
      const SourceRange& range, const Expr& cond, const List<Stmt>& true_branch, const List<Stmt>& false_branch) {
    return make(range, cond, true_branch, false_branch);
  }
};

struct TORCH_API While : StmtView<While, TK_WHILE, 2> {
  using NodeView::NodeView;
  Expr cond() const {
    return part<Expr>(0);
  }
  List<Stmt> body() const {
    return part<List<Stmt>>(1);
  }
  static While create(const SourceRange& range, const Expr& cond, const List<Stmt>& body) {
    return make(range, cond, body);
  }
};

/// Several targets take the parts of one value: `for a, b in pairs`.
struct TORCH_API For : StmtView<For, TK_FOR, 3> {
  using NodeView::NodeView;
  List<Expr> targets() const {
    return part<List<Expr>>(0);
  }
  List<Expr> itrs() const {
    return part<List<Expr>>(1);
  }
  List<Stmt> body() const {
    return part<List<Stmt>>(2);
  }
  static For create(
      const SourceRange& range, const List<Expr>& targets, const List<Expr>& itrs, const List<Stmt>& body) {
    return make(range, targets, itrs, body);
  }
};

struct TORCH_API Global : StmtView<Global, TK_GLOBAL, 1> {
  using NodeView::NodeView;
  List<Ident> names() const {
    return part<List<Ident>>(0);
  }
  static Global create(const SourceRange& range, const List<Ident>& names) {
    return make(range, names);
  }
};

/// The operator of an augmented assignment: a node of its kind without trees.
struct TORCH_API AugAssignKind : TreeView {
  explicit AugAssignKind(const TreeRef& tree);
};

struct TORCH_API AugAssign : StmtView<AugAssign, TK_AUG_ASSIGN, 3> {
  using NodeView::NodeView;
  Expr lhs() const {
    return part<Expr>(0);
  }
  int aug_op() const {
    return subtree(1)->kind();
  }
  Expr rhs() const {
    return part<Expr>(2);
  }
  static AugAssign create(const SourceRange& range, const Expr& lhs, const AugAssignKind& aug_op, const Expr& rhs) {
    return make(range, lhs, aug_op, rhs);
  }
};

/// `a = b = value` has several left sides; a declaration may have no value.
struct TORCH_API Assign : StmtView<Assign, TK_ASSIGN, 3> {
  using NodeView::NodeView;
  List<Expr> lhs_list() const {
    return part<List<Expr>>(0);
  }
  /// Throws if there are several.
  Expr lhs() const;
  Maybe<Expr> rhs() const {
    return part<Maybe<Expr>>(1);
  }
  Maybe<Expr> type() const {
    return part<Maybe<Expr>>(2);
  }
  static Assign create(
      const SourceRange& range, const List<Expr>& lhs, const Maybe<Expr>& rhs, const Maybe<Expr>& type) {
    return make(range, lhs, rhs, type);
  }
};

/// `return` without a value has None.
struct TORCH_API Return : StmtView<Return, TK_RETURN, 1> {
  using NodeView::NodeView;
  Expr expr() const {
    return part<Expr>(0);
  }
  static Return create(const SourceRange& range, const Expr& value) {
    return make(range, value);
  }
};

struct TORCH_API Raise : StmtView<Raise, TK_RAISE, 1> {
  using NodeView::NodeView;
  Expr expr() const {
    return part<Expr>(0);
  }
  static Raise create(const SourceRange& range, const Expr& expr) {
    return make(range, expr);
  }
};

struct TORCH_API Assert : StmtView<Assert, TK_ASSERT, 2> {
  using NodeView::NodeView;
  Expr test() const {
    return part<Expr>(0);
  }
  Maybe<Expr> msg() const {
    return part<Maybe<Expr>>(1);
  }
  static Assert create(const SourceRange& range, const Expr& test, const Maybe<Expr>& msg) {
    return make(range, test, msg);
  }
};

/// A statement or expression without parts.
template <class View, int Kind, class Base>
struct LeafView : NodeView<View, Kind, 0, Base> {
  using NodeView<View, Kind, 0, Base>::NodeView;
  static View create(const SourceRange& range) {
    return NodeView<View, Kind, 0, Base>::make(range);
  }
};

struct TORCH_API Pass : LeafView<Pass, TK_PASS, Stmt> {
  using LeafView::LeafView;
};
struct TORCH_API Break : LeafView<Break, TK_BREAK, Stmt> {
  using LeafView::LeafView;
};
struct TORCH_API Continue : LeafView<Continue, TK_CONTINUE, Stmt> {
  using LeafView::LeafView;
};
struct TORCH_API Dots : LeafView<Dots, TK_DOTS, Expr> {
  using LeafView::LeafView;
};

struct TORCH_API ExprStmt : StmtView<ExprStmt, TK_EXPR_STMT, 1> {
  using NodeView::NodeView;
  Expr expr() const {
    return part<Expr>(0);
  }
  static ExprStmt create(const SourceRange& range, const Expr& expr) {
    return make(range, expr);
  }
};

struct TORCH_API Delete : StmtView<Delete, TK_DELETE, 1> {
  using NodeView::NodeView;
  List<Expr> targets() const {
    return part<List<Expr>>(0);
  }
  static Delete create(const SourceRange& range, const List<Expr>& targets) {
    return make(range, targets);
  }
};

// ---- expressions ----------------------------------------------------------------------------------------------------

/// Operators of two operands, `and` and `or` among them. `a not in b` is `not (a in b)`.
struct TORCH_API BinOp : Expr {
  explicit BinOp(const TreeRef& tree);
  Expr lhs() const {
    return Expr(subtree(0));
  }
  Expr rhs() const {
    return Expr(subtree(1));
  }
  static BinOp create(const SourceRange& range, int kind, const Expr& lhs, const Expr& rhs);
};

/// `-` (TK_UNARY_MINUS), `~` and `not`. The sign of a number belongs to its Const.
struct TORCH_API UnaryOp : Expr {
  explicit UnaryOp(const TreeRef& tree);
  static UnaryOp create(const SourceRange& range, int kind, const Expr& expr);
};

/// A number.
struct TORCH_API Const : ExprView<Const, TK_CONST, 1> {
  using NodeView::NodeView;
  bool isFloatingPoint() const;
  bool isIntegral() const;
  bool isComplex() const;
  /// Throws ErrorReport if it does not fit into 64 bits.
  int64_t asIntegral() const;
  double asFloatingPoint() const;
  c10::complex<double> asComplex() const;
  /// As it is written.
  const std::string& text() const {
    return subtree(0)->stringValue();
  }
  static Const create(const SourceRange& range, const std::string& value) {
    return make(range, String::create(value));
  }
};

struct TORCH_API StringLiteral : ExprView<StringLiteral, TK_STRINGLITERAL, 1> {
  using NodeView::NodeView;
  /// The characters that it stands for.
  const std::string& text() const {
    return subtree(0)->stringValue();
  }
  static StringLiteral create(const SourceRange& range, const std::string& value) {
    return make(range, String::create(value));
  }
};

/// A call.
struct TORCH_API Apply : ExprView<Apply, TK_APPLY, 3> {
  using NodeView::NodeView;
  Expr callee() const {
    return part<Expr>(0);
  }
  List<Expr> inputs() const {
    return part<List<Expr>>(1);
  }
  List<Attribute> attributes() const {
    return part<List<Attribute>>(2);
  }
  static Apply create(
      const SourceRange& range, const Expr& callee, const List<Expr>& inputs, const List<Attribute>& attributes) {
    return make(range, callee, inputs, attributes);
  }
};

/// `value.selector`
struct TORCH_API Select : ExprView<Select, '.', 2> {
  using NodeView::NodeView;
  Expr value() const {
    return part<Expr>(0);
  }
  Ident selector() const {
    return part<Ident>(1);
  }
  static Select create(const SourceRange& range, const Expr& value, const Ident& selector) {
    return make(range, value, selector);
  }
};

struct TORCH_API SliceExpr : ExprView<SliceExpr, TK_SLICE_EXPR, 3> {
  using NodeView::NodeView;
  Maybe<Expr> start() const {
    return part<Maybe<Expr>>(0);
  }
  Maybe<Expr> end() const {
    return part<Maybe<Expr>>(1);
  }
  Maybe<Expr> step() const {
    return part<Maybe<Expr>>(2);
  }
  /// What is missing is the number.
  Expr startOr(int64_t alternative) const {
    return part_or(0, alternative);
  }
  Expr endOr(int64_t alternative) const {
    return part_or(1, alternative);
  }
  Expr stepOr(int64_t alternative) const {
    return part_or(2, alternative);
  }
  static SliceExpr create(
      const SourceRange& range, const Maybe<Expr>& start, const Maybe<Expr>& end, const Maybe<Expr>& step) {
    return make(range, start, end, step);
  }

 private:
  Expr part_or(size_t i, int64_t alternative) const;
};

struct TORCH_API Subscript : ExprView<Subscript, TK_SUBSCRIPT, 2> {
  using NodeView::NodeView;
  Expr value() const {
    return part<Expr>(0);
  }
  List<Expr> subscript_exprs() const {
    return part<List<Expr>>(1);
  }
  /// Its range ends with the bracket behind the last index.
  static Subscript create(const SourceRange& range, const Expr& value, const List<Expr>& subscript_exprs);
};

struct TORCH_API Var : ExprView<Var, TK_VAR, 1> {
  using NodeView::NodeView;
  Ident name() const {
    return part<Ident>(0);
  }
  static Var create(const SourceRange& range, const Ident& name) {
    return make(range, name);
  }
};

/// `target as var`
struct TORCH_API WithItem : ExprView<WithItem, TK_WITH_ITEM, 2> {
  using NodeView::NodeView;
  Expr target() const {
    return part<Expr>(0);
  }
  Maybe<Var> var() const {
    return part<Maybe<Var>>(1);
  }
  static WithItem create(const SourceRange& range, const Expr& target, const Maybe<Var>& var) {
    return make(range, target, var);
  }
};

struct TORCH_API With : StmtView<With, TK_WITH, 2> {
  using NodeView::NodeView;
  List<WithItem> targets() const {
    return part<List<WithItem>>(0);
  }
  List<Stmt> body() const {
    return part<List<Stmt>>(1);
  }
  static With create(const SourceRange& range, const List<WithItem>& targets, const List<Stmt>& body) {
    return make(range, targets, body);
  }
};

struct TORCH_API TernaryIf : ExprView<TernaryIf, TK_IF_EXPR, 3> {
  using NodeView::NodeView;
  Expr cond() const {
    return part<Expr>(0);
  }
  Expr true_expr() const {
    return part<Expr>(1);
  }
  Expr false_expr() const {
    return part<Expr>(2);
  }
  static TernaryIf create(const SourceRange& range, const Expr& cond, const Expr& true_expr, const Expr& false_expr) {
    return make(range, cond, true_expr, false_expr);
  }
};

struct TORCH_API ListLiteral : ExprView<ListLiteral, TK_LIST_LITERAL, 1> {
  using NodeView::NodeView;
  List<Expr> inputs() const {
    return part<List<Expr>>(0);
  }
  static ListLiteral create(const SourceRange& range, const List<Expr>& inputs) {
    return make(range, inputs);
  }
};

struct TORCH_API TupleLiteral : ExprView<TupleLiteral, TK_TUPLE_LITERAL, 1> {
  using NodeView::NodeView;
  List<Expr> inputs() const {
    return part<List<Expr>>(0);
  }
  static TupleLiteral create(const SourceRange& range, const List<Expr>& inputs) {
    return make(range, inputs);
  }
};

struct TORCH_API DictLiteral : ExprView<DictLiteral, TK_DICT_LITERAL, 2> {
  using NodeView::NodeView;
  List<Expr> key_inputs() const {
    return part<List<Expr>>(0);
  }
  List<Expr> value_inputs() const {
    return part<List<Expr>>(1);
  }
  static DictLiteral create(const SourceRange& range, const List<Expr>& keys, const List<Expr>& values) {
    return make(range, keys, values);
  }
};

/// `[elt for target in iter]`
struct TORCH_API ListComp : ExprView<ListComp, TK_LIST_COMP, 3> {
  using NodeView::NodeView;
  Expr elt() const {
    return part<Expr>(0);
  }
  Expr target() const {
    return part<Expr>(1);
  }
  Expr iter() const {
    return part<Expr>(2);
  }
  static ListComp create(const SourceRange& range, const Expr& elt, const Expr& target, const Expr& iter) {
    return make(range, elt, target, iter);
  }
};

/// `{key: value for target in iter}`
struct TORCH_API DictComp : ExprView<DictComp, TK_DICT_COMP, 4> {
  using NodeView::NodeView;
  Expr key() const {
    return part<Expr>(0);
  }
  Expr value() const {
    return part<Expr>(1);
  }
  Expr target() const {
    return part<Expr>(2);
  }
  Expr iter() const {
    return part<Expr>(3);
  }
  static DictComp create(
      const SourceRange& range, const Expr& key, const Expr& value, const Expr& target, const Expr& iter) {
    return make(range, key, value, target, iter);
  }
};

struct TORCH_API Starred : ExprView<Starred, TK_STARRED, 1> {
  using NodeView::NodeView;
  Expr expr() const {
    return part<Expr>(0);
  }
  static Starred create(const SourceRange& range, const Expr& expr) {
    return make(range, expr);
  }
};

// ---- classes --------------------------------------------------------------------------------------------------------

struct TORCH_API ClassDef : NodeView<ClassDef, TK_CLASS_DEF, 5> {
  using NodeView::NodeView;
  Ident name() const {
    return part<Ident>(0);
  }
  Maybe<Expr> superclass() const {
    return part<Maybe<Expr>>(1);
  }
  List<Stmt> body() const {
    return part<List<Stmt>>(2);
  }
  Maybe<List<Property>> properties() const {
    return part<Maybe<List<Property>>>(3);
  }
  Maybe<List<Assign>> assigns() const {
    return part<Maybe<List<Assign>>>(4);
  }
  /// With the same body; without properties and assigns.
  ClassDef withName(std::string new_name) const {
    return create(range(), Ident::create(name().range(), std::move(new_name)), superclass(), body());
  }
  static ClassDef create(
      const SourceRange& range, const Ident& name, const Maybe<Expr>& superclass, const List<Stmt>& body) {
    return make(
        range, name, superclass, body, Maybe<List<Property>>::create(range), Maybe<List<Assign>>::create(range));
  }
  static ClassDef create(
      const SourceRange& range,
      const Ident& name,
      const Maybe<Expr>& superclass,
      const List<Stmt>& body,
      const List<Property>& properties,
      const List<Assign>& assigns) {
    return make(
        range, name, superclass, body, Maybe<List<Property>>::create(range, properties),
        Maybe<List<Assign>>::create(range, assigns));
  }
};

/// The members of `a | b | c`; of another expression itself.
TORCH_API std::vector<Expr> get_pep604_union_members(const Expr& node);
/// `a | b | c` as `Union[a, b, c]`; another expression unchanged.
TORCH_API Expr pep604union_to_union(const Expr& expr);

} // namespace torch::jit
