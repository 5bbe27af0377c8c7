// How Python and its json module write values.
#include <csrc/llm/template/value.h>
#include <csrc/llm/tokenizer/utf8.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace torch::llm::jinja {

namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

std::string quoted_repr(const std::string& text) {
  const bool has_single = text.find('\'') != std::string::npos, has_double = text.find('"') != std::string::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n' || c == '\r' || c == '\t') {
      out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += "\\x";
      out += kHexDigits[static_cast<unsigned char>(c) >> 4];
      out += kHexDigits[c & 15];
    } else {
      out += c;
    }
  }
  return out += quote;
}

void append_json_string(std::string& out, const std::string& text) {
  constexpr std::string_view kSigns = "\"\\\n\r\t\b\f", kLetters = "\"\\nrtbf";
  out += '"';
  for (const char c : text) {
    if (const size_t index = kSigns.find(c); index != std::string_view::npos) {
      out += '\\';
      out += kLetters[index];
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += kHexDigits[c >> 4];
      out += kHexDigits[c & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

class JsonWriter {
 public:
  JsonWriter(int indent, bool sort_keys) : indent_(indent), sort_keys_(sort_keys) {}

  void write(const Value& value, int level) {
    if (value.is_string()) {
      append_json_string(out, value.as_string());
    } else if (value.is_list()) {
      write_items(value.items(), level, "[", "]", [&](const Value& item) { write(item, level + 1); });
    } else if (value.is_dict()) {
      Dict members = value.members();
      if (sort_keys_) {
        std::stable_sort(
            members.begin(), members.end(), [](const auto& a, const auto& b) { return less(a.first, b.first); });
      }
      write_items(members, level, "{", "}", [&](const auto& member) {
        append_json_string(out, key_text(member.first));
        out += ": ";
        write(member.second, level + 1);
      });
    } else {
      out += scalar_text(value);
    }
  }

  std::string out;

 private:
  static std::string scalar_text(const Value& value) {
    if (value.is_none()) {
      return "null";
    }
    if (value.is_bool()) {
      return value.truth() ? "true" : "false";
    }
    TORCH_CHECK(value.is_number(), "Object of type ", value.type_name(), " is not JSON serializable");
    if (value.is_float() && !std::isfinite(value.as_double())) {
      return std::isnan(value.as_double()) ? "NaN" : value.as_double() > 0 ? "Infinity" : "-Infinity";
    }
    return value.to_text();
  }
  static std::string key_text(const Value& key) {
    return key.is_string() ? key.as_string() : scalar_text(key);
  }

  void break_line(int level) {
    if (indent_ >= 0) {
      out += '\n';
      out.append(static_cast<size_t>(indent_ * level), ' ');
    }
  }
  template <class Items, class Write>
  void write_items(const Items& items, int level, const char* open, const char* close, Write&& write_item) {
    out += open;
    bool is_first = true;
    for (const auto& item : items) {
      out += is_first ? "" : indent_ >= 0 ? "," : ", ";
      break_line(level + 1);
      write_item(item);
      is_first = false;
    }
    if (!items.empty()) {
      break_line(level);
    }
    out += close;
  }

  int indent_;
  bool sort_keys_;
};

} // namespace

std::string float_text(double value) {
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  }
  char buffer[32];
  const char* const end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  const size_t mark = text.find('e');
  int exponent = 0;
  const char* const digits = text.data() + mark + (text[mark + 1] == '+' ? 2 : 1);
  std::from_chars(digits, end, exponent);
  if (exponent < -4 || exponent >= 16) {
    return std::string(text);
  }
  std::string fixed(buffer, std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed).ptr);
  return fixed.find('.') == std::string::npos ? fixed + ".0" : fixed;
}

std::string Value::to_text() const {
  if (is_undefined()) {
    return "";
  }
  return is_string() ? as_string() : repr();
}

std::string Value::repr() const {
  if (is_undefined()) {
    return "Undefined";
  }
  if (is_none()) {
    return "None";
  }
  if (is_bool()) {
    return truth() ? "True" : "False";
  }
  if (is_int()) {
    return std::to_string(as_int());
  }
  if (is_float()) {
    return float_text(as_double());
  }
  if (is_string()) {
    return quoted_repr(as_string());
  }
  std::string out;
  if (is_list()) {
    for (const Value& item : items()) {
      out += (out.empty() ? "" : ", ") + item.repr();
    }
    if (is_tuple()) {
      return "(" + out + (items().size() == 1 ? ",)" : ")");
    }
    return "[" + out + "]";
  }
  if (is_dict()) {
    for (const auto& [key, value] : members()) {
      out += (out.empty() ? "" : ", ") + key.repr() + ": " + value.repr();
    }
    return "{" + out + "}";
  }
  return is_namespace() ? "<Namespace>" : "<function " + callable().name + ">";
}

std::string to_json(const Value& value, int indent, bool sort_keys) {
  JsonWriter writer(indent, sort_keys);
  writer.write(value, 0);
  return std::move(writer.out);
}

} // namespace torch::llm::jinja
