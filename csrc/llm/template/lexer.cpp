#include <csrc/llm/template/lexer.h>

#include <csrc/llm/tokenizer/unicode.h>
#include <csrc/llm/tokenizer/utf8.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <charconv>

namespace torch::llm::jinja {

namespace {

bool is_python_space(char32_t code) {
  return is_space(code) || (code >= 0x1c && code <= 0x1f);
}

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string with_unix_lines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      out += '\n';
      i += i + 1 < source.size() && source[i + 1] == '\n' ? 1 : 0;
    } else {
      out += source[i];
    }
  }
  if (out.ends_with('\n')) {
    out.pop_back();
  }
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(with_unix_lines(source)) {}

  std::vector<Token> run() {
    while (position_ < source_.size()) {
      read_data();
    }
    add(Token::Kind::End, "");
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    C10_THROW_ERROR(SyntaxError, "chat template, line " + std::to_string(line()) + ": " + what);
  }
  int line() const {
    return 1 + static_cast<int>(std::count(source_.begin(), source_.begin() + static_cast<ptrdiff_t>(position_), '\n'));
  }
  std::string_view rest() const {
    return std::string_view(source_).substr(position_);
  }
  char peek(size_t ahead = 0) const {
    return position_ + ahead < source_.size() ? source_[position_ + ahead] : '\0';
  }
  void add(Token::Kind kind, std::string text) {
    count_lines();
    tokens_.push_back({kind, std::move(text), counted_line_});
  }
  void count_lines() {
    const auto begin = source_.begin() + static_cast<ptrdiff_t>(counted_);
    counted_line_ += static_cast<int>(std::count(begin, source_.begin() + static_cast<ptrdiff_t>(position_), '\n'));
    counted_ = position_;
  }

  /// Text up to the next tag, then the tag.
  void read_data() {
    size_t tag = position_;
    for (tag = source_.find('{', tag); tag != std::string::npos; tag = source_.find('{', tag + 1)) {
      const char next = tag + 1 < source_.size() ? source_[tag + 1] : '\0';
      if (next == '{' || next == '%' || next == '#') {
        break;
      }
    }
    if (tag == std::string::npos) {
      add_data(rest());
      position_ = source_.size();
      return;
    }
    const char kind = source_[tag + 1];
    const char sign = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
    add_data(text_before_tag(std::string_view(source_).substr(position_, tag - position_), kind, sign));
    position_ = tag + 2 + (sign == '-' || sign == '+' ? 1 : 0);
    if (kind == '#') {
      read_comment();
    } else if (kind == '%' && begins_raw()) {
      read_raw();
    } else {
      read_tag(kind == '{');
    }
  }

  std::string_view text_before_tag(std::string_view text, char kind, char sign) const {
    if (sign == '-') {
      while (!text.empty()) {
        const size_t last = utf8_previous(text, text.size());
        if (!is_python_space(utf8_decode(text.data() + last))) {
          break;
        }
        text = text.substr(0, last);
      }
      return text;
    }
    if (sign == '+' || kind == '{') {
      return text;
    }
    // A block that stands alone at the begin of its line takes the spaces before it.
    const size_t newline = text.rfind('\n');
    if (newline == std::string_view::npos && !line_starting_) {
      return text;
    }
    const size_t line_begin = newline == std::string_view::npos ? 0 : newline + 1;
    bool is_blank = true;
    for_each_character(
        text.substr(line_begin), [&](char32_t code, size_t, size_t) { is_blank &= is_python_space(code); });
    return is_blank ? text.substr(0, line_begin) : text;
  }

  void add_data(std::string_view text) {
    if (!text.empty()) {
      add(Token::Kind::Data, std::string(text));
    }
  }

  /// After "-%}" all space goes, after "%}" one line break.
  void end_tag(char sign, bool trims_newline) {
    const size_t begin = position_;
    if (sign == '-') {
      while (position_ < source_.size() && is_python_space(utf8_decode(source_.data() + position_))) {
        position_ += utf8_length(source_[position_]);
      }
    } else if (sign != '+' && trims_newline && peek() == '\n') {
      ++position_;
    }
    line_starting_ = position_ > begin && source_[position_ - 1] == '\n';
  }

  void read_comment() {
    const size_t end = source_.find("#}", position_);
    if (end == std::string::npos) {
      fail("Missing end of comment tag");
    }
    const char sign = end > position_ ? source_[end - 1] : '\0';
    position_ = end + 2;
    end_tag(sign, /*trims_newline=*/true);
  }

  size_t skip_blanks(size_t at) const {
    while (at < source_.size() && is_python_space(static_cast<unsigned char>(source_[at]))) {
      ++at;
    }
    return at;
  }
  bool begins_raw() const {
    const size_t at = skip_blanks(position_);
    return source_.compare(at, 3, "raw") == 0 && (at + 3 >= source_.size() || !is_name_start(source_[at + 3]));
  }

  void read_raw() {
    position_ = skip_blanks(skip_blanks(position_) + 3);
    const char sign = peek();
    position_ += sign == '-' || sign == '+' ? 1 : 0;
    if (rest().substr(0, 2) != "%}") {
      fail("expected the end of 'raw'");
    }
    position_ += 2;
    end_tag(sign, /*trims_newline=*/false);
    for (size_t tag = source_.find("{%", position_); tag != std::string::npos; tag = source_.find("{%", tag + 1)) {
      const char begin_sign = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
      size_t at = skip_blanks(tag + 2 + (begin_sign == '-' || begin_sign == '+' ? 1 : 0));
      if (source_.compare(at, 6, "endraw") != 0) {
        continue;
      }
      at = skip_blanks(at + 6);
      const char end_sign = at < source_.size() ? source_[at] : '\0';
      at += end_sign == '-' || end_sign == '+' ? 1 : 0;
      if (source_.compare(at, 2, "%}") != 0) {
        continue;
      }
      add_data(text_before_tag(std::string_view(source_).substr(position_, tag - position_), '%', begin_sign));
      position_ = at + 2;
      end_tag(end_sign, /*trims_newline=*/true);
      return;
    }
    fail("Missing end of raw directive");
  }

  void read_tag(bool is_variable) {
    add(is_variable ? Token::Kind::VariableBegin : Token::Kind::BlockBegin, "");
    const std::string_view close = is_variable ? "}}" : "%}";
    std::string brackets;
    for (;;) {
      position_ = skip_blanks(position_);
      if (position_ >= source_.size()) {
        fail(is_variable ? "expected '}}'" : "expected '%}'");
      }
      const char sign = peek();
      const bool has_sign = (sign == '-' || (sign == '+' && !is_variable)) && rest().substr(1, 2) == close;
      if (brackets.empty() && (has_sign || rest().substr(0, 2) == close)) {
        position_ += has_sign ? 3 : 2;
        add(is_variable ? Token::Kind::VariableEnd : Token::Kind::BlockEnd, "");
        end_tag(has_sign ? sign : '\0', !is_variable);
        return;
      }
      read_token(brackets);
    }
  }

  void read_token(std::string& brackets) {
    const char c = peek();
    if (is_name_start(c)) {
      const size_t begin = position_;
      while (is_name_start(peek()) || is_digit(peek())) {
        ++position_;
      }
      add(Token::Kind::Name, source_.substr(begin, position_ - begin));
    } else if (is_digit(c)) {
      read_number();
    } else if (c == '"' || c == '\'') {
      read_string(c);
    } else {
      read_operator(brackets);
    }
  }

  void read_number() {
    const size_t begin = position_;
    const auto skip_digits = [&] {
      while (is_digit(peek()) || (peek() == '_' && is_digit(peek(1)))) {
        ++position_;
      }
    };
    skip_digits();
    bool is_float = false;
    if (peek() == '.' && is_digit(peek(1))) {
      is_float = true;
      ++position_;
      skip_digits();
    }
    const size_t sign = peek(1) == '-' || peek(1) == '+' ? 1 : 0;
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
      is_float = true;
      position_ += 1 + sign;
      skip_digits();
    }
    std::string text = source_.substr(begin, position_ - begin);
    std::erase(text, '_');
    add(is_float ? Token::Kind::Float : Token::Kind::Integer, text);
    const char *first = text.data(), *last = first + text.size();
    const std::errc error = is_float ? std::from_chars(first, last, tokens_.back().number).ec
                                     : std::from_chars(first, last, tokens_.back().integer).ec;
    if (error != std::errc()) {
      fail("the number " + text.substr(0, 40) + " is out of range");
    }
  }

  void read_string(char quote) {
    std::string text;
    for (++position_;; ++position_) {
      if (position_ >= source_.size()) {
        fail("a string does not end");
      }
      if (peek() == quote) {
        break;
      }
      if (peek() == '\\') {
        ++position_;
        read_escape(text);
      } else {
        text += peek();
      }
    }
    ++position_;
    add(Token::Kind::String, std::move(text));
  }

  /// Leaves the position at the last character of the escape.
  void read_escape(std::string& text) {
    constexpr std::string_view kSigns = "\\'\"abfnrtv", kMeanings = "\\'\"\a\b\f\n\r\t\v";
    const char c = peek();
    if (const size_t index = kSigns.find(c); index != std::string_view::npos && c != '\0') {
      text += kMeanings[index];
    } else if (c == 'x' || c == 'u' || c == 'U') {
      const size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : 8;
      uint32_t code = 0;
      const char* const first = source_.data() + std::min(position_ + 1, source_.size());
      const char* const last = source_.data() + std::min(position_ + 1 + digits, source_.size());
      const auto [end, error] = std::from_chars(first, last, code, 16);
      if (error != std::errc() || end != first + digits || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
        fail("an escape in a string is not valid");
      }
      append_utf8(text, code);
      position_ += digits;
    } else if (c != '\n') { // a line break after a backslash is none
      text += '\\';
      text += c;
    }
  }

  void read_operator(std::string& brackets) {
    static constexpr std::string_view kLong[] = {"**", "//", "==", "!=", ">=", "<="};
    for (const std::string_view sign : kLong) {
      if (rest().starts_with(sign)) {
        position_ += 2;
        add(Token::Kind::Operator, std::string(sign));
        return;
      }
    }
    const char c = peek();
    if (std::string_view("+-/*%~[](){}><=.:|,;").find(c) == std::string_view::npos || c == '\0') {
      fail("unexpected character '" + source_.substr(position_, utf8_length(c)) + "'");
    }
    if (c == '(' || c == '[' || c == '{') {
      brackets += c == '(' ? ')' : c == '[' ? ']' : '}';
    } else if (c == ')' || c == ']' || c == '}') {
      if (brackets.empty() || brackets.back() != c) {
        fail(std::string("unexpected '") + c + "'");
      }
      brackets.pop_back();
    }
    ++position_;
    add(Token::Kind::Operator, std::string(1, c));
  }

  std::string source_;
  size_t position_ = 0;
  bool line_starting_ = true;
  size_t counted_ = 0;
  int counted_line_ = 1;
  std::vector<Token> tokens_;
};

} // namespace

std::vector<Token> tokenize(std::string_view source) {
  check_utf8(source, "a chat template");
  return Lexer(source).run();
}

} // namespace torch::llm::jinja
