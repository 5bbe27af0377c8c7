// Reading expressions of templates.
#pragma once

#include <csrc/llm/template/ast.h>
#include <csrc/llm/template/lexer.h>

#include <string>
#include <string_view>
#include <vector>

namespace torch::llm::jinja {

/// The tokens of a template, read one after another.
class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& current() const {
    return tokens_[position_];
  }
  const Token& ahead() const {
    return tokens_[std::min(position_ + 1, tokens_.size() - 1)];
  }
  const Token& next() {
    const Token& token = tokens_[position_];
    position_ += position_ + 1 < tokens_.size() ? 1 : 0;
    return token;
  }
  bool is_operator(std::string_view sign) const {
    return current().is(Token::Kind::Operator, sign);
  }
  bool is_name(std::string_view name) const {
    return current().is(Token::Kind::Name, name);
  }
  /// Takes the operator, or the name, if it stands here.
  bool accept(std::string_view sign);
  bool accept_name(std::string_view name);
  void expect(std::string_view sign);
  void expect_name(std::string_view name);
  void expect(Token::Kind kind, const char* what);
  std::string take_name(const char* what);
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::vector<Token> tokens_;
  size_t position_ = 0;
};

/// Reads expressions by recursive descent, with bounds on their depth.
class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& stream) : stream_(stream) {}

  ExpressionPtr parse(bool with_conditional = true);
  /// a, b, c without brackets is a tuple.
  ExpressionPtr parse_tuple(bool with_conditional = true);
  /// value | filter | filter, at the first filter's name.
  ExpressionPtr parse_filter(ExpressionPtr value);
  ExpressionPtr parse_primary();

 private:
  using Rule = ExpressionPtr (ExpressionParser::*)();

  std::unique_ptr<Expression> make(Expression::Kind kind) const;
  ExpressionPtr finish(std::unique_ptr<Expression> node) const;
  ExpressionPtr make_binary(Expression::Kind kind, std::string sign, ExpressionPtr left, ExpressionPtr right) const;
  ExpressionPtr constant(Value value);

  ExpressionPtr parse_conditional();
  ExpressionPtr parse_or();
  ExpressionPtr parse_and();
  ExpressionPtr parse_not();
  ExpressionPtr parse_compare();
  ExpressionPtr parse_sum();
  ExpressionPtr parse_concat();
  ExpressionPtr parse_product();
  ExpressionPtr parse_power();
  ExpressionPtr parse_unary(bool with_filters);
  ExpressionPtr parse_postfix(ExpressionPtr value);
  ExpressionPtr parse_filters_and_tests(ExpressionPtr value);
  ExpressionPtr parse_subscript(ExpressionPtr value);
  ExpressionPtr parse_call(ExpressionPtr value);
  ExpressionPtr parse_test(ExpressionPtr value);
  ExpressionPtr parse_brackets();
  ExpressionPtr parse_dict();
  void parse_arguments(Expression& call);

  TokenStream& stream_;
  int depth_ = 0;
};

} // namespace torch::llm::jinja
