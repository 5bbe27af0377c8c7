#include <aten/core/schema_lexer.h>

#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::jit::schema {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool starts_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool in_identifier(char c) {
  return starts_identifier(c) || is_digit(c);
}

} // namespace

Lexer::Lexer(std::string_view source) : source_(source) {
  read();
}

Token Lexer::next() {
  const Token out = current_;
  read();
  return out;
}

bool Lexer::next_if(char symbol) {
  if (!current_.is(symbol)) {
    return false;
  }
  read();
  return true;
}

bool Lexer::next_if(std::string_view identifier) {
  if (!current_.is(identifier)) {
    return false;
  }
  read();
  return true;
}

bool Lexer::next_if(TokenKind kind) {
  if (current_.kind != kind) {
    return false;
  }
  read();
  return true;
}

Token Lexer::expect(char symbol) {
  if (!current_.is(symbol)) {
    fail_expected(std::string("'") + symbol + "'");
  }
  return next();
}

Token Lexer::expect(TokenKind kind, const char* what) {
  if (current_.kind != kind) {
    fail_expected(what);
  }
  return next();
}

void Lexer::fail_expected(const std::string& what) const {
  const std::string found = current_.kind == TokenKind::End ? "the end" : "'" + std::string(current_.text) + "'";
  fail("expected " + what + " but found " + found + " here:", current_);
}

void Lexer::fail(const std::string& message, const Token& at) const {
  // Schemas may span lines: show the text up to the end of the line at fault, then the mark.
  const size_t line_begin = at.begin == 0 ? 0 : source_.rfind('\n', at.begin - 1) + 1;
  const size_t line_end = std::min(source_.find('\n', at.begin), source_.size());
  const size_t width = std::max<size_t>(1, std::min(at.text.size(), line_end - at.begin));
  std::string shown(source_.substr(0, line_end));
  shown += '\n';
  shown.append(at.begin - line_begin, ' ').append(width, '~').append(" <--- HERE");
  shown.append(source_.substr(line_end));
  TORCH_CHECK(false, message, "\n", shown);
}

size_t Lexer::scan_number(size_t pos) const {
  const auto digits = [&] {
    const size_t begin = pos;
    while (pos < source_.size() && is_digit(source_[pos])) {
      ++pos;
    }
    return pos > begin;
  };
  bool any = digits();
  if (pos < source_.size() && source_[pos] == '.') {
    ++pos;
    any = digits() || any;
  }
  if (!any) {
    return std::string_view::npos;
  }
  if (pos < source_.size() && (source_[pos] == 'e' || source_[pos] == 'E')) {
    const size_t before = pos++;
    if (pos < source_.size() && (source_[pos] == '+' || source_[pos] == '-')) {
      ++pos;
    }
    if (!digits()) {
      pos = before;
    }
  }
  if (pos < source_.size() && source_[pos] == 'j') {
    ++pos;
  }
  return pos;
}

size_t Lexer::scan_string(size_t pos) const {
  const char quote = source_[pos];
  for (++pos; pos < source_.size(); ++pos) {
    if (source_[pos] == quote) {
      return pos + 1;
    }
    if (source_[pos] == '\\') {
      ++pos;
    }
  }
  return std::string_view::npos;
}

void Lexer::read() {
  size_t pos = end_of_current_;
  while (pos < source_.size() &&
         (source_[pos] == ' ' || source_[pos] == '\t' || source_[pos] == '\n' || source_[pos] == '\r')) {
    ++pos;
  }
  size_t end = pos;
  TokenKind kind = TokenKind::End;
  if (pos < source_.size()) {
    const char c = source_[pos];
    const char after = pos + 1 < source_.size() ? source_[pos + 1] : '\0';
    if (starts_identifier(c)) {
      kind = TokenKind::Identifier;
      while (end < source_.size() && in_identifier(source_[end])) {
        ++end;
      }
    } else if (c == '"' || c == '\'') {
      kind = TokenKind::String;
      end = scan_string(pos);
      if (end == std::string_view::npos) {
        fail("this string has no end:", Token{kind, source_.substr(pos), pos});
      }
    } else if (source_.substr(pos, 3) == "...") {
      kind = TokenKind::Ellipsis;
      end = pos + 3;
    } else if (c == '-' && after == '>') {
      kind = TokenKind::Arrow;
      end = pos + 2;
    } else if (is_digit(c) || (c == '.' && is_digit(after))) {
      kind = TokenKind::Number;
      end = scan_number(pos);
    } else {
      kind = TokenKind::Symbol;
      end = pos + 1;
    }
  }
  current_ = Token{kind, source_.substr(pos, end - pos), pos};
  end_of_current_ = end;
}

std::string unquoted(const Lexer& lexer, const Token& token) {
  const std::string_view body = token.text.substr(1, token.text.size() - 2);
  std::string out;
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\') {
      out += body[i];
      continue;
    }
    const char c = body[++i];
    switch (c) {
      case '\\':
      case '\'':
      case '"':
        out += c;
        break;
      case 'a':
        out += '\a';
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'v':
        out += '\v';
        break;
      default: {
        int value = 0;
        size_t digits = 0;
        while (digits < 3 && i + digits < body.size() && body[i + digits] >= '0' && body[i + digits] <= '7') {
          value = value * 8 + (body[i + digits] - '0');
          ++digits;
        }
        if (digits == 0) {
          lexer.fail(std::string("unknown escape \\") + c + " in this string:", token);
        }
        out += static_cast<char>(value);
        i += digits - 1;
      }
    }
  }
  return out;
}

} // namespace torch::jit::schema
