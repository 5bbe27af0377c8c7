#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace torch::jit::schema {

enum class TokenKind { End, Identifier, Number, String, Arrow, Ellipsis, Symbol };

struct Token {
  TokenKind kind = TokenKind::End;
  /// As written; for String with quotes and escapes.
  std::string_view text;
  size_t begin = 0;

  bool is(char symbol) const {
    return kind == TokenKind::Symbol && text[0] == symbol;
  }
  bool is(std::string_view identifier) const {
    return kind == TokenKind::Identifier && text == identifier;
  }
};

/// Splits a schema into tokens, with one token of look-ahead.
class Lexer {
 public:
  explicit Lexer(std::string_view source);

  const Token& current() const {
    return current_;
  }
  /// The current token; moves on to the next.
  Token next();
  bool next_if(char symbol);
  bool next_if(std::string_view identifier);
  bool next_if(TokenKind kind);
  Token expect(char symbol);
  Token expect(TokenKind kind, const char* what);
  /// Whether `c` follows the current token without space.
  bool followed_by(char c) const {
    return end_of_current_ < source_.size() && source_[end_of_current_] == c;
  }

  /// Throws c10::Error with the message and the marked source.
  [[noreturn]] void fail(const std::string& message, const Token& at) const;
  [[noreturn]] void fail_expected(const std::string& what) const;

 private:
  void read();
  size_t scan_number(size_t pos) const;
  size_t scan_string(size_t pos) const;

  std::string_view source_;
  Token current_;
  size_t end_of_current_ = 0;
};

/// The characters that a string token stands for.
std::string unquoted(const Lexer& lexer, const Token& token);

} // namespace torch::jit::schema
