#include <csrc/jit/frontend/parser.h>

#include <csrc/jit/frontend/syntax_parser.h>
#include <csrc/jit/frontend/tree_syntax.h>

namespace torch::jit {

Parser::Parser(const std::shared_ptr<Source>& src) : parser_(std::make_unique<SyntaxParser>(src)) {}

Parser::~Parser() = default;

TreeRef Parser::parseFunction(bool) {
  return toTree(*parser_->parseFunction());
}

TreeRef Parser::parseClass() {
  return toTree(*parser_->parseClass());
}

Expr Parser::parseExp() {
  return Expr(toTree(*parser_->parseExpression()));
}

Lexer& Parser::lexer() {
  return parser_->lexer();
}

Decl Parser::parseTypeComment() {
  const SourceRange range = lexer().expect(TK_TYPE_COMMENT).range;
  const Expr types = parseExp();
  const List<Expr> list =
      types.kind() == TK_TUPLE_LITERAL ? TupleLiteral(types).inputs() : List<Expr>::create(types.range(), {types});
  std::vector<Param> params;
  for (const Expr type : list) {
    const Ident no_name = Ident::create(type.range(), "");
    params.push_back(Param::create(type.range(), no_name, type, Maybe<Expr>::create(type.range()), false));
  }
  Maybe<Expr> result = Maybe<Expr>::create(range);
  if (lexer().nextIf(TK_ARROW)) {
    result = Maybe<Expr>(parseExp());
  }
  return Decl::create(range, List<Param>::create(types.range(), params), result);
}

Decl mergeTypesFromTypeComment(const Decl& decl, const Decl& type_annotation_decl, bool is_method) {
  const List<Param> params = decl.params();
  const List<Param> types = type_annotation_decl.params();
  const size_t skipped = is_method && params.size() == types.size() + 1 ? 1 : 0;
  if (params.size() != types.size() + skipped) {
    throw ErrorReport(type_annotation_decl)
        << "Number of type annotations (" << types.size() << ") did not match the number of "
        << (is_method ? "method" : "function") << " parameters (" << params.size() << ")";
  }
  std::vector<Param> typed;
  for (size_t i = 0; i < params.size(); ++i) {
    typed.push_back(i < skipped ? params[i] : params[i].withType(types[i - skipped].type()));
  }
  return Decl::create(decl.range(), List<Param>::create(params.range(), typed), type_annotation_decl.return_type());
}

} // namespace torch::jit
