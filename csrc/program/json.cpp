#include <csrc/program/json.h>

#include <c10/util/Exception.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace torch::program {

namespace {

constexpr int kMaxJsonDepth = 800;

const char* kind_name(const Json& value) {
  return value.is_null()  ? "null"
      : value.is_bool()   ? "a boolean"
      : value.is_int()    ? "an integer"
      : value.is_double() ? "a number"
      : value.is_string() ? "a string"
      : value.is_array()  ? "an array"
                          : "an object";
}

void append_code_point(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
  out += static_cast<char>(lead[more] | code >> (6 * more));
  for (int i = more - 1; i >= 0; --i) {
    out += static_cast<char>(0x80 | (code >> (6 * i) & 0x3f));
  }
}

class JsonParser {
 public:
  JsonParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Json run() {
    Json value = parse_value(0);
    skip_spaces();
    if (position_ != text_.size()) {
      fail("text follows the value");
    }
    return value;
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    TORCH_CHECK(false, where_, ", offset ", position_, ": ", what);
  }
  void skip_spaces() {
    while (
        position_ < text_.size() &&
        (text_[position_] == ' ' || text_[position_] == '\n' || text_[position_] == '\t' || text_[position_] == '\r')) {
      ++position_;
    }
  }
  char peek() {
    skip_spaces();
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c || position_ == text_.size()) {
      return false;
    }
    ++position_;
    return true;
  }
  bool accept_word(std::string_view word) {
    if (text_.substr(position_, word.size()) != word) {
      return false;
    }
    position_ += word.size();
    return true;
  }

  Json parse_value(int depth) {
    if (depth > kMaxJsonDepth) {
      fail("values are nested too deep");
    }
    switch (peek()) {
      case '{':
        return parse_object(depth);
      case '[':
        return parse_array(depth);
      case '"':
        return Json(parse_string());
      default:
        return parse_scalar();
    }
  }

  Json parse_object(int depth) {
    Json::Object members;
    ++position_;
    if (accept('}')) {
      return Json(std::move(members));
    }
    do {
      if (peek() != '"') {
        fail("the name of a member must stand here");
      }
      std::string name = parse_string();
      if (!accept(':')) {
        fail("':' must stand here");
      }
      members.emplace_back(std::move(name), parse_value(depth + 1));
    } while (accept(','));
    if (!accept('}')) {
      fail("',' or '}' must stand here");
    }
    members.shrink_to_fit();
    return Json(std::move(members));
  }

  Json parse_array(int depth) {
    Json::Array items;
    ++position_;
    if (accept(']')) {
      return Json(std::move(items));
    }
    do {
      items.push_back(parse_value(depth + 1));
    } while (accept(','));
    if (!accept(']')) {
      fail("',' or ']' must stand here");
    }
    items.shrink_to_fit();
    return Json(std::move(items));
  }

  Json parse_scalar() {
    if (accept_word("null")) {
      return Json();
    }
    if (accept_word("true")) {
      return Json(true);
    }
    if (accept_word("false")) {
      return Json(false);
    }
    // Python writes these three unless it is told not to.
    if (accept_word("NaN")) {
      return Json(std::numeric_limits<double>::quiet_NaN());
    }
    if (accept_word("Infinity")) {
      return Json(std::numeric_limits<double>::infinity());
    }
    if (accept_word("-Infinity")) {
      return Json(-std::numeric_limits<double>::infinity());
    }
    return parse_number();
  }

  size_t skip_digits() {
    const size_t begin = position_;
    while (position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9') {
      ++position_;
    }
    return position_ - begin;
  }
  bool accept_one_of(std::string_view characters) {
    if (position_ == text_.size() || characters.find(text_[position_]) == characters.npos) {
      return false;
    }
    ++position_;
    return true;
  }

  // The grammar of RFC 8259, section 6; an integer beyond int64_t becomes a double.
  Json parse_number() {
    const size_t begin = position_;
    accept_one_of("-");
    if (!accept_one_of("0") && skip_digits() == 0) {
      position_ = begin;
      fail("a value must stand here");
    }
    bool is_whole = true;
    if (accept_one_of(".")) {
      is_whole = false;
      if (skip_digits() == 0) {
        fail("a digit must follow the point of a number");
      }
    }
    if (accept_one_of("eE")) {
      is_whole = false;
      accept_one_of("+-");
      if (skip_digits() == 0) {
        fail("an exponent must have a digit");
      }
    }
    const char *first = text_.data() + begin, *last = text_.data() + position_;
    int64_t whole = 0;
    if (is_whole && std::from_chars(first, last, whole).ec == std::errc()) {
      return Json(whole);
    }
    double value = 0;
    if (std::from_chars(first, last, value).ec != std::errc()) {
      fail("a number is outside of what a double holds");
    }
    return Json(value);
  }

  std::string parse_string() {
    std::string out;
    for (++position_;;) {
      if (position_ == text_.size()) {
        fail("a string does not end");
      }
      const char c = text_[position_++];
      if (c == '"') {
        return out;
      }
      if (static_cast<unsigned char>(c) < 0x20) {
        fail("a string contains a control character");
      }
      if (c == '\\') {
        parse_escape(out);
      } else {
        out += c;
      }
    }
  }

  void parse_escape(std::string& out) {
    const char c = position_ < text_.size() ? text_[position_++] : '\0';
    constexpr std::string_view signs = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    if (const size_t index = signs.find(c); index != std::string_view::npos && c != '\0') {
      out += meanings[index];
      return;
    }
    if (c != 'u') {
      fail("a backslash must be followed by one of \"\\/bfnrtu");
    }
    uint32_t code = parse_hex4();
    if (code >= 0xd800 && code < 0xdc00 && text_.substr(position_, 2) == "\\u") {
      position_ += 2;
      const uint32_t low = parse_hex4();
      if (low < 0xdc00 || low >= 0xe000) {
        fail("a high surrogate must be followed by a low one");
      }
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    append_code_point(out, code);
  }

  uint32_t parse_hex4() {
    uint32_t code = 0;
    const std::string_view digits = text_.substr(std::min(position_, text_.size()), 4);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (error != std::errc() || end != digits.data() + 4) {
      fail("\\u must be followed by four hexadecimal digits");
    }
    position_ += 4;
    return code;
  }

  std::string_view text_;
  const std::string& where_;
  size_t position_ = 0;
};

template <class T, class Data>
const T& get(const Data& data, const Json& value, const char* wanted) {
  const T* const found = std::get_if<T>(&data);
  TORCH_CHECK(found, "expected ", wanted, ", found ", kind_name(value));
  return *found;
}

} // namespace

Json Json::parse(std::string_view text, const std::string& where) {
  return JsonParser(text, where).run();
}

bool Json::as_bool() const {
  return get<bool>(data_, *this, "a boolean");
}
int64_t Json::as_int() const {
  return get<int64_t>(data_, *this, "an integer");
}
double Json::as_double() const {
  if (is_int()) {
    return static_cast<double>(as_int());
  }
  if (is_string()) {
    const std::string& text = as_string();
    TORCH_CHECK(
        text == "Infinity" || text == "-Infinity" || text == "NaN", "expected a number, found the string '", text, "'");
    return text == "NaN" ? std::numeric_limits<double>::quiet_NaN()
                         : std::copysign(std::numeric_limits<double>::infinity(), text[0] == '-' ? -1.0 : 1.0);
  }
  return get<double>(data_, *this, "a number");
}
const std::string& Json::as_string() const {
  return get<std::string>(data_, *this, "a string");
}
const Json::Array& Json::items() const {
  return get<Array>(data_, *this, "an array");
}
const Json::Object& Json::members() const {
  return get<Object>(data_, *this, "an object");
}

const Json& Json::at(std::string_view name) const {
  for (const auto& [key, value] : members()) {
    if (key == name) {
      return value;
    }
  }
  TORCH_CHECK(false, "there is no member '", name, "'");
}

const Json* Json::find(std::string_view name) const {
  if (!is_object()) {
    return nullptr;
  }
  for (const auto& [key, value] : members()) {
    if (key == name) {
      return value.is_null() ? nullptr : &value;
    }
  }
  return nullptr;
}

const std::pair<std::string, Json>& Json::only() const {
  const Object& all = members();
  TORCH_CHECK(all.size() == 1, "expected an object with one member, found ", all.size(), " members");
  return all[0];
}

} // namespace torch::program
