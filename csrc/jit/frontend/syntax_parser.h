// Source text as a syntax tree.
#pragma once

#include <csrc/jit/frontend/lexer.h>
#include <csrc/jit/frontend/syntax.h>

#include <memory>

namespace torch::jit {

/// Reads definitions and expressions one after the other. All throw ErrorReport where the text is not TorchScript, also
/// where it is nested more deeply than 500 levels.
struct TORCH_API SyntaxParser {
  explicit SyntaxParser(std::shared_ptr<Source> source) : lexer_(std::move(source)) {}
  /// Reads the characters [begin, end), which begin with a definition or an expression.
  SyntaxParser(std::shared_ptr<Source> source, size_t begin, size_t end) : lexer_(std::move(source), begin, end) {}

  Lexer& lexer() {
    return lexer_;
  }
  /// A `def`. A type comment in it is taken for annotations.
  SyntaxPtr parseFunction();
  /// A `class`.
  SyntaxPtr parseClass();
  /// A `def`, a `class` or, at the top of a file of constants and imports, a statement.
  SyntaxPtr parseTopLevel();
  /// An expression, a type annotation for one.
  SyntaxPtr parseExpression();

 private:
  class Depth;
  SyntaxPtr parse_expression_or_tuple(bool in_parentheses = false);
  SyntaxPtr parse_conditional();
  SyntaxPtr parse_binary(int min_precedence);
  SyntaxPtr parse_unary();
  SyntaxPtr parse_power();
  SyntaxPtr parse_postfix();
  SyntaxPtr parse_atom();
  SyntaxPtr parse_call(SyntaxPtr callee);
  SyntaxPtr parse_subscript(SyntaxPtr object);
  SyntaxPtr parse_index(const SourceRange& begin);
  SyntaxPtr parse_list();
  SyntaxPtr parse_list_comprehension(SyntaxPtr element);
  SyntaxPtr parse_loop_targets();
  SyntaxPtr parse_dict();
  SyntaxPtr parse_string();
  SyntaxPtr parse_target();
  SyntaxPtr parse_statement();
  SyntaxPtr parse_simple_statement();
  SyntaxPtr parse_assignment_or_expression();
  SyntaxPtr parse_augmented_assignment(SyntaxPtr target);
  SyntaxPtr parse_if(const Token& keyword);
  SyntaxPtr parse_with(const Token& keyword);
  SyntaxPtr parse_block();
  SyntaxPtr parse_parameter(bool keyword_only);
  SyntaxChildren parse_parameters();
  SyntaxPtr missing(const SourceRange& near) const;

  Lexer lexer_;
  size_t depth_ = 0;
};

/// All characters from the first to the last of both.
TORCH_API SourceRange mergeRanges(const SourceRange& a, const SourceRange& b);

} // namespace torch::jit
