#include "json.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace conformance {

namespace {

[[noreturn]] void wrong_kind(const char* wanted) {
  throw std::runtime_error(std::string("json: value is not ") + wanted);
}

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

} // namespace

class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : text_(text) {}

  Json whole() {
    Json value = parse_value();
    skip_space();
    if (at_ != text_.size()) {
      fail("text after the value");
    }
    return value;
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw std::runtime_error("json: " + std::string(what) + " at byte " + std::to_string(at_));
  }

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  char peek() {
    skip_space();
    if (at_ >= text_.size()) {
      fail("unexpected end");
    }
    return text_[at_];
  }

  bool accept(char c) {
    if (peek() != c) {
      return false;
    }
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) {
      fail("unexpected character");
    }
  }

  bool accept_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) {
      return false;
    }
    at_ += word.size();
    return true;
  }

  Json parse_value() {
    Json value;
    switch (peek()) {
      case '{':
        parse_object(value);
        break;
      case '[':
        parse_array(value);
        break;
      case '"':
        value.kind_ = Json::Kind::String;
        value.string_ = parse_string();
        break;
      case 't':
      case 'f':
        value.kind_ = Json::Kind::Bool;
        value.int_ = text_[at_] == 't';
        if (!accept_word("true") && !accept_word("false")) {
          fail("unknown word");
        }
        break;
      case 'n':
        if (!accept_word("null")) {
          fail("unknown word");
        }
        break;
      default:
        parse_number(value);
    }
    return value;
  }

  void parse_object(Json& value) {
    value.kind_ = Json::Kind::Object;
    expect('{');
    if (accept('}')) {
      return;
    }
    do {
      if (peek() != '"') {
        fail("object key must be a string");
      }
      std::string key = parse_string();
      expect(':');
      value.members_.emplace_back(std::move(key), parse_value());
    } while (accept(','));
    expect('}');
  }

  void parse_array(Json& value) {
    value.kind_ = Json::Kind::Array;
    expect('[');
    if (accept(']')) {
      return;
    }
    do {
      value.items_.push_back(parse_value());
    } while (accept(','));
    expect(']');
  }

  std::string parse_string() {
    expect('"');
    std::string out;
    for (;;) {
      if (at_ >= text_.size()) {
        fail("string without end");
      }
      const char c = text_[at_++];
      if (c == '"') {
        return out;
      }
      if (c != '\\') {
        out += c;
        continue;
      }
      if (at_ >= text_.size()) {
        fail("string without end");
      }
      const char escaped = text_[at_++];
      switch (escaped) {
        case 'n':
          out += '\n';
          break;
        case 't':
          out += '\t';
          break;
        case 'r':
          out += '\r';
          break;
        case 'b':
          out += '\b';
          break;
        case 'f':
          out += '\f';
          break;
        case 'u':
          append_utf8(out, parse_code_point());
          break;
        default:
          out += escaped;
      }
    }
  }

  /// Characters beyond 0xFFFF are written as two escapes.
  uint32_t parse_code_point() {
    const uint32_t high = parse_hex4();
    if (high < 0xD800 || high >= 0xDC00 || text_.substr(at_, 2) != "\\u") {
      return high;
    }
    at_ += 2;
    const uint32_t low = parse_hex4();
    if (low < 0xDC00 || low >= 0xE000) {
      fail("half of a pair of \\u escapes");
    }
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  }

  uint32_t parse_hex4() {
    uint32_t code = 0;
    const char* begin = text_.data() + at_;
    if (at_ + 4 > text_.size() || std::from_chars(begin, begin + 4, code, 16).ptr != begin + 4) {
      fail("bad \\u escape");
    }
    at_ += 4;
    return code;
  }

  void parse_number(Json& value) {
    const size_t start = at_;
    bool integral = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '.' || c == 'e' || c == 'E') {
        integral = false;
      } else if (c != '-' && c != '+' && (c < '0' || c > '9')) {
        break;
      }
      ++at_;
    }
    const char* begin = text_.data() + start;
    const char* end = text_.data() + at_;
    if (begin == end) {
      fail("unexpected character");
    }
    if (integral) {
      value.kind_ = Json::Kind::Int;
      const auto parsed = std::from_chars(begin, end, value.int_);
      if (parsed.ec == std::errc() && parsed.ptr == end) {
        return;
      }
    }
    value.kind_ = Json::Kind::Double;
    if (std::from_chars(begin, end, value.double_).ptr != end) {
      fail("bad number");
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

Json Json::parse(std::string_view text) {
  return JsonParser(text).whole();
}

bool Json::as_bool() const {
  if (kind_ != Kind::Bool) {
    wrong_kind("a bool");
  }
  return int_ != 0;
}

int64_t Json::as_int() const {
  if (kind_ != Kind::Int) {
    wrong_kind("an integer");
  }
  return int_;
}

double Json::as_double() const {
  if (kind_ == Kind::Int) {
    return static_cast<double>(int_);
  }
  if (kind_ == Kind::Double) {
    return double_;
  }
  if (kind_ == Kind::String) {
    if (string_ == "nan") {
      return std::numeric_limits<double>::quiet_NaN();
    }
    if (string_ == "inf") {
      return std::numeric_limits<double>::infinity();
    }
    if (string_ == "-inf") {
      return -std::numeric_limits<double>::infinity();
    }
  }
  wrong_kind("a number");
}

const std::string& Json::as_string() const {
  if (kind_ != Kind::String) {
    wrong_kind("a string");
  }
  return string_;
}

const std::vector<Json>& Json::items() const {
  if (kind_ != Kind::Array) {
    wrong_kind("an array");
  }
  return items_;
}

const std::vector<Json::Member>& Json::members() const {
  if (kind_ != Kind::Object) {
    wrong_kind("an object");
  }
  return members_;
}

std::vector<int64_t> Json::as_ints() const {
  std::vector<int64_t> out;
  out.reserve(items().size());
  for (const Json& item : items()) {
    out.push_back(item.as_int());
  }
  return out;
}

const Json* Json::find(std::string_view key) const {
  for (const Member& member : members()) {
    if (member.first == key) {
      return &member.second;
    }
  }
  return nullptr;
}

const Json& Json::at(std::string_view key) const {
  if (const Json* found = find(key)) {
    return *found;
  }
  throw std::runtime_error("json: no member '" + std::string(key) + "'");
}

} // namespace conformance
