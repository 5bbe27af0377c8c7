#include <csrc/jit/ir/ir_scanner.h>

#include <csrc/jit/frontend/error_report.h>

#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <limits>

namespace torch::jit {

namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

} // namespace

IRScanner::IRScanner(const std::string& text) : source_(std::make_shared<Source>(text)), text_(source_->text()) {}

void IRScanner::fail(const std::string& message, size_t at) const {
  const size_t begin = std::min(at, text_.size());
  throw ErrorReport(SourceRange(source_, begin, std::min(begin + 1, text_.size()))) << message;
}

void IRScanner::fail(const std::string& message) const {
  fail(message, position_);
}

void IRScanner::skip_space() {
  while (!at_end()) {
    const char c = peek();
    if (c == '#') {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      ++position_;
    } else {
      return;
    }
  }
}

void IRScanner::skip_blanks() {
  while (peek() == ' ' || peek() == '\t') {
    ++position_;
  }
}

bool IRScanner::looking_at(std::string_view expected) {
  skip_space();
  if (text_.compare(position_, expected.size(), expected) != 0) {
    return false;
  }
  return !(is_word(expected.back()) && is_word(peek(expected.size())));
}

bool IRScanner::take(std::string_view expected) {
  if (!looking_at(expected)) {
    return false;
  }
  position_ += expected.size();
  return true;
}

void IRScanner::expect(std::string_view expected) {
  if (!take(expected)) {
    std::string found = at_end() ? std::string("the end") : "'" + std::string(1, peek()) + "'";
    fail("expected '" + std::string(expected) + "' but found " + found + " here");
  }
}

std::string IRScanner::name(bool dotted, const char* what) {
  skip_space();
  const size_t begin = position_;
  while (is_word(peek()) || (dotted && peek() == '.')) {
    ++position_;
  }
  if (begin == position_) {
    fail(std::string("expected ") + what + " here");
  }
  return std::string(text_.substr(begin, position_ - begin));
}

std::string_view IRScanner::until(char stop) {
  const size_t begin = position_;
  while (!at_end() && peek() != '\n' && peek() != stop) {
    ++position_;
  }
  return text_.substr(begin, position_ - begin);
}

// ---- values ---------------------------------------------------------------------------------------------------------

char IRScanner::escape() {
  const char c = peek();
  if (c >= '0' && c <= '7') {
    int code = 0;
    for (int digits = 0; digits < 3 && peek() >= '0' && peek() <= '7'; ++digits, ++position_) {
      code = code * 8 + (peek() - '0');
    }
    return static_cast<char>(code);
  }
  ++position_;
  switch (c) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      return c;
  }
}

std::string IRScanner::quoted() {
  skip_space();
  const size_t begin = position_;
  const char quote = peek();
  if (quote != '"' && quote != '\'') {
    fail("expected a string here");
  }
  ++position_;
  std::string text;
  while (peek() != quote) {
    if (at_end()) {
      fail("this string has no end", begin);
    }
    if (peek() == '\\') {
      ++position_;
      if (at_end()) {
        fail("this string has no end", begin);
      }
      text += escape();
    } else {
      text += text_[position_++];
    }
  }
  ++position_;
  return text;
}

double IRScanner::real_part() {
  const size_t begin = position_;
  const bool negative = peek() == '-';
  if (negative || peek() == '+') {
    ++position_;
  }
  for (const char* special : {"infinity", "inf", "nan"}) {
    const std::string_view word(special);
    if (text_.compare(position_, word.size(), word) == 0) {
      position_ += word.size();
      const double value =
          word == "nan" ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
      return negative ? -value : value;
    }
  }
  const size_t digits = position_;
  while (std::isdigit(static_cast<unsigned char>(peek())) || peek() == '.') {
    ++position_;
  }
  if (position_ > digits && (peek() == 'e' || peek() == 'E')) {
    const size_t sign = peek(1) == '-' || peek(1) == '+' ? 2 : 1;
    if (std::isdigit(static_cast<unsigned char>(peek(sign)))) {
      position_ += sign;
      while (std::isdigit(static_cast<unsigned char>(peek()))) {
        ++position_;
      }
    }
  }
  if (position_ == digits) {
    fail("expected a number here", begin);
  }
  return std::strtod(std::string(text_.substr(begin, position_ - begin)).c_str(), nullptr);
}

IValue IRScanner::number() {
  skip_space();
  const size_t begin = position_;
  const double value = real_part();
  std::string_view written = text_.substr(begin, position_ - begin);
  if (peek() == 'j') {
    ++position_;
    return c10::complex<double>(0.0, value);
  }
  const bool more = peek() == '-' || peek() == '+';
  if (more) {
    const size_t end = position_;
    const double imaginary = real_part();
    if (peek() == 'j') {
      ++position_;
      return c10::complex<double>(value, imaginary);
    }
    position_ = end;
  }
  if (written.find_first_of(".eEn") != std::string_view::npos) {
    return value;
  }
  if (written.front() == '+') {
    written.remove_prefix(1);
  }
  int64_t integer = 0;
  const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), integer);
  if (error != std::errc() || end != written.data() + written.size()) {
    fail("this integer does not fit into 64 bits", begin);
  }
  return integer;
}

} // namespace torch::jit
