#include <csrc/jit/frontend/tree_views.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <initializer_list>
#include <iostream>

namespace torch::jit {

namespace {

using Kinds = std::initializer_list<int>;

constexpr Kinds kStatements = {TK_IF,     TK_FOR,       TK_WHILE, TK_GLOBAL, TK_ASSIGN, TK_AUG_ASSIGN,
                               TK_RETURN, TK_EXPR_STMT, TK_RAISE, TK_ASSERT, TK_PASS,   TK_BREAK,
                               TK_DELETE, TK_CONTINUE,  TK_DEF,   TK_WITH};
constexpr Kinds kBinary = {TK_AND,    TK_OR,     '<', '>', TK_IS, TK_ISNOT, TK_EQ,        TK_LE,
                           TK_GE,     TK_NE,     '+', '*', '/',   '-',      '@',          TK_POW,
                           TK_LSHIFT, TK_RSHIFT, '%', '&', '^',   '|',      TK_FLOOR_DIV, TK_IN};
constexpr Kinds kUnary = {TK_UNARY_MINUS, '~', TK_NOT};
constexpr Kinds kAugmented = {'+', '-', '*', '/', '%', '|', '&', '^', TK_POW, TK_LSHIFT, TK_RSHIFT};
constexpr Kinds kOtherExpressions = {
    TK_IF_EXPR,
    TK_STARRED,
    TK_CONST,
    TK_STRINGLITERAL,
    TK_TRUE,
    TK_FALSE,
    TK_NONE,
    TK_NONE_TYPE,
    TK_CAST,
    TK_APPLY,
    '.',
    TK_SUBSCRIPT,
    TK_SLICE_EXPR,
    TK_VAR,
    TK_LIST_LITERAL,
    TK_TUPLE_LITERAL,
    TK_DICT_LITERAL,
    TK_LIST_COMP,
    TK_DICT_COMP,
    TK_DOTS,
    TK_WITH_ITEM};

bool is_one_of(Kinds kinds, int kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

void check_kind(const TreeRef& tree, bool is_valid, const char* what) {
  if (!is_valid && tree->isAtom()) {
    TORCH_CHECK(false, kindToString(tree->kind()), " is not a valid ", what);
  }
  if (!is_valid) {
    throw ErrorReport(tree) << kindToString(tree->kind()) << " is not a valid " << what;
  }
}

} // namespace

void TreeView::dump() const {
  std::cout << tree_;
}

Stmt::Stmt(const TreeRef& tree) : TreeView(tree) {
  check_kind(tree, is_one_of(kStatements, kind()), "Stmt");
}

Expr::Expr(const TreeRef& tree) : TreeView(tree) {
  const bool is_valid = is_one_of(kOtherExpressions, kind()) || is_one_of(kBinary, kind()) || is_one_of(kUnary, kind());
  check_kind(tree, is_valid, "Expr");
}

AugAssignKind::AugAssignKind(const TreeRef& tree) : TreeView(tree) {
  check_kind(tree, is_one_of(kAugmented, kind()), "AugAssignKind");
}

BinOp::BinOp(const TreeRef& tree) : Expr(tree) {
  check_kind(tree, is_one_of(kBinary, kind()), "BinOp");
  tree->matchNumSubtrees(kind(), 2);
}

BinOp BinOp::create(const SourceRange& range, int kind, const Expr& lhs, const Expr& rhs) {
  return BinOp(Compound::create(kind, range, {lhs.get(), rhs.get()}));
}

UnaryOp::UnaryOp(const TreeRef& tree) : Expr(tree) {
  check_kind(tree, is_one_of(kUnary, kind()), "UnaryOp");
  tree->matchNumSubtrees(kind(), 1);
}

UnaryOp UnaryOp::create(const SourceRange& range, int kind, const Expr& expr) {
  return UnaryOp(Compound::create(kind, range, {expr.get()}));
}

Expr Assign::lhs() const {
  const List<Expr> all = lhs_list();
  TORCH_CHECK(all.size() == 1, "Assign::lhs: there are ", all.size(), " left sides; use lhs_list()");
  return all[0];
}

// ---- numbers --------------------------------------------------------------------------------------------------------

namespace {

bool is_hexadecimal(const std::string& text) {
  return text.find_first_of("xX") != std::string::npos;
}

} // namespace

bool Const::isComplex() const {
  return text().find_first_of("jJ") != std::string::npos;
}

bool Const::isFloatingPoint() const {
  const bool has_mark = text() == "inf" || text().find_first_of(".eE") != std::string::npos;
  return has_mark && !isComplex() && !is_hexadecimal(text());
}

bool Const::isIntegral() const {
  return !isFloatingPoint() && !isComplex();
}

int64_t Const::asIntegral() const {
  errno = 0;
  const long long value = std::strtoll(text().c_str(), nullptr, is_hexadecimal(text()) ? 16 : 10);
  if (errno == ERANGE) {
    throw ErrorReport(range()) << "Integral constant out of range (must fit in a signed 64 bit integer)";
  }
  return value;
}

double Const::asFloatingPoint() const {
  return std::strtod(text().c_str(), nullptr);
}

c10::complex<double> Const::asComplex() const {
  return c10::complex<double>(0, asFloatingPoint());
}

Expr SliceExpr::part_or(size_t i, int64_t alternative) const {
  const auto given = part<Maybe<Expr>>(i);
  return given.present() ? given.get() : Const::create(range(), std::to_string(alternative));
}

Subscript Subscript::create(const SourceRange& range, const Expr& value, const List<Expr>& subscript_exprs) {
  const size_t end = std::max(range.end(), subscript_exprs.range().end() + 1);
  return make(SourceRange(range.source(), range.start(), end), value, subscript_exprs);
}

// ---- unions ---------------------------------------------------------------------------------------------------------

std::vector<Expr> get_pep604_union_members(const Expr& node) {
  // The left one of two last: chains are deep on their left.
  std::vector<Expr> pending{node};
  std::vector<Expr> members;
  while (!pending.empty()) {
    const Expr next = pending.back();
    pending.pop_back();
    if (next.kind() == '|') {
      pending.push_back(BinOp(next).lhs());
      pending.push_back(BinOp(next).rhs());
    } else {
      members.push_back(next);
    }
  }
  std::reverse(members.begin(), members.end());
  return members;
}

Expr pep604union_to_union(const Expr& expr) {
  if (expr.kind() != '|') {
    return expr;
  }
  const SourceRange& range = expr.range();
  const List<Expr> members = List<Expr>::create(range, get_pep604_union_members(expr));
  return Subscript::create(range, Var::create(range, Ident::create(range, "Union")), members);
}

} // namespace torch::jit
