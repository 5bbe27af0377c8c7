// Source text as tokens.
#pragma once

#include <csrc/jit/frontend/source_range.h>
#include <csrc/jit/frontend/token_kinds.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace torch::jit {

/// The keywords, then the operators; of those that begin alike, the longer ones first.
constexpr std::array<std::string_view, 71> kWords = {
    "and",    "as",   "assert", "break", "class", "continue", "def", "del", "elif", "else",  "False",  "for",
    "global", "if",   "import", "in",    "is",    "None",     "not", "or",  "pass", "raise", "return", "True",
    "while",  "with", "<<=",    ">>=",   "**=",   "...",      "->",  "<<",  ">>",   "**",    "//",     "==",
    "!=",     "<=",   ">=",     "+=",    "-=",    "*=",       "/=",  "%=",  "&=",   "|=",    "^=",     "+",
    "-",      "*",    "/",      "%",     "@",     "&",        "|",   "^",   "~",    "<",     ">",      "=",
    "(",      ")",    "[",      "]",     "{",     "}",        ",",   ":",   ".",    "?",     "!"};
constexpr size_t kKeywordCount = 26;

/// A keyword or operator, as its place among kWords; kWords.size() for tokens that are neither.
struct Word {
  uint8_t index = kWords.size();

  constexpr Word() = default;
  /// Of a literal; text that is none of kWords does not compile where the language has consteval.
  template <size_t N>
#ifdef __cpp_consteval
  consteval
#else
  constexpr
#endif
      Word(const char (&text)[N]) {
    for (index = 0; kWords[index] != text;) {
      ++index;
    }
  }
  constexpr std::string_view text() const {
    return kWords[index];
  }
  constexpr bool operator==(const Word& other) const {
    return index == other.index;
  }
  constexpr bool operator!=(const Word& other) const {
    return !(*this == other);
  }
};

struct Token {
  /// A character or a TokenKind. `is not` and `not in` are two tokens.
  int kind;
  /// Its characters; the unescaped text of a string is made by the parser.
  SourceRange range;
  Word word = {};

  std::string_view text_view() const {
    return range.text();
  }
  std::string text() const {
    return std::string(text_view());
  }
  std::string kindString() const {
    return kindToString(kind);
  }
  /// Whether it is this keyword or operator.
  bool is(Word other) const {
    return word == other;
  }
};

/// Reads tokens one by one, with one to look ahead at. Lines within brackets are one; comments and blank lines are
/// none.
struct TORCH_API Lexer {
  explicit Lexer(std::shared_ptr<Source> source);
  /// The tokens of the characters [begin, end), where indentation counts from the beginning of a line on.
  Lexer(std::shared_ptr<Source> source, size_t begin, size_t end);

  const Token& cur() const {
    return current_;
  }
  const Token& lookahead();
  Token next();
  /// Takes the token if it is this keyword or operator.
  bool nextIf(Word word);
  bool nextIf(int kind);
  /// Takes the token or throws "expected ... but found ...".
  Token expect(Word word);
  Token expect(int kind);
  [[noreturn]] void reportError(const std::string& what) const;
  [[noreturn]] void reportUnexpected(const std::string& expected, const Token& found);
  /// Takes the end of the line and the indentation behind it.
  void expectIndentedBlock();
  const std::shared_ptr<Source>& source() const {
    return source_;
  }

 private:
  [[noreturn]] static void throw_error(const std::string& what, const SourceRange& range);
  [[noreturn]] void throw_unexpected(
      const std::string& expected, const std::string& found, const SourceRange& range) const;
  [[noreturn]] void throw_invalid(size_t begin) const;
  Token scan();
  Token make(int kind, size_t begin, Word word = {}) const;
  bool skip_blank_lines_and_indent(Token& token);
  void skip_spaces();
  size_t scan_number(size_t begin) const;
  size_t scan_string(size_t begin) const;
  Token scan_name(size_t begin);
  Token scan_operator(size_t begin);

  std::shared_ptr<Source> source_;
  std::string_view text_;
  size_t pos_ = 0;
  size_t gap_ = 0; // where the spaces before the token begin
  size_t brackets_ = 0;
  bool at_line_start_ = true;
  bool ended_with_newline_ = true;
  std::vector<size_t> indents_{0};
  std::deque<Token> ahead_;
  Token current_;
};

} // namespace torch::jit
