// Methods of strings, lists and dicts.
#include <csrc/llm/template/interpreter.h>
#include <csrc/llm/tokenizer/unicode.h>
#include <csrc/llm/tokenizer/utf8.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>

namespace torch::llm::jinja {

namespace {

using Method = Value (*)(Interpreter&, const Value&, const Arguments&);

struct NamedMethod {
  std::string_view name;
  Method method;
};

int64_t integer_or(const Arguments& arguments, size_t position, std::string_view name, int64_t fallback) {
  const Value* const given = arguments.find(position, name);
  return given ? given->as_int() : fallback;
}

/// Cuts at spaces; the rest of the text is one part after `most` cuts.
List split_at_spaces(Interpreter& interpreter, const std::string& text, int64_t most, bool from_right) {
  List parts;
  std::string rest = strip(text, nullptr, true, true);
  while (!rest.empty()) {
    size_t cut = std::string::npos;
    for_each_character(rest, [&](char32_t code, size_t offset, size_t) {
      cut = is_space(code) && (from_right || cut == std::string::npos) ? offset : cut;
    });
    interpreter.charge_steps(1 + rest.size());
    if (cut == std::string::npos || (most >= 0 && static_cast<int64_t>(parts.size()) >= most)) {
      parts.push_back(interpreter.text(std::move(rest)));
      break;
    }
    const size_t after = cut + utf8_length(rest[cut]);
    parts.push_back(interpreter.text(from_right ? rest.substr(after) : rest.substr(0, cut)));
    rest =
        from_right ? strip(rest.substr(0, cut), nullptr, false, true) : strip(rest.substr(after), nullptr, true, false);
  }
  if (from_right) {
    std::reverse(parts.begin(), parts.end());
  }
  return parts;
}

List split_at(
    Interpreter& interpreter, const std::string& text, const std::string& separator, int64_t most, bool from_right) {
  TORCH_CHECK(!separator.empty(), "empty separator");
  List parts;
  size_t begin = 0, end = text.size();
  while (most < 0 || static_cast<int64_t>(parts.size()) < most) {
    const size_t at = from_right
        ? (end < separator.size() ? std::string::npos : text.rfind(separator, end - separator.size()))
        : text.find(separator, begin);
    if (at == std::string::npos) {
      break;
    }
    interpreter.charge_steps(1);
    if (from_right) {
      parts.push_back(interpreter.text(text.substr(at + separator.size(), end - at - separator.size())));
      end = at;
    } else {
      parts.push_back(interpreter.text(text.substr(begin, at - begin)));
      begin = at + separator.size();
    }
  }
  parts.push_back(interpreter.text(text.substr(begin, end - begin)));
  if (from_right) {
    std::reverse(parts.begin(), parts.end());
  }
  return parts;
}

template <bool kFromRight>
Value split_method(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  arguments.check_count("split", 0, 2);
  const Value* const separator = arguments.find(0, "sep");
  const int64_t most = integer_or(arguments, 1, "maxsplit", -1);
  return Value::list(
      !separator || separator->is_none()
          ? split_at_spaces(interpreter, self.as_string(), most, kFromRight)
          : split_at(interpreter, self.as_string(), separator->as_string(), most, kFromRight));
}

template <bool kLeft, bool kRight>
Value strip_method(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  arguments.check_count("strip", 0, 1);
  return interpreter.text(strip(self.as_string(), arguments.find(0, "chars"), kLeft, kRight));
}

template <bool kAtEnd>
Value affix_method(Interpreter&, const Value& self, const Arguments& arguments) {
  arguments.check_count(kAtEnd ? "endswith" : "startswith", 1, 1);
  const Value& affix = arguments.at(0, "prefix");
  const std::string& text = self.as_string();
  const auto has = [&](const Value& one) {
    return kAtEnd ? text.ends_with(one.as_string()) : text.starts_with(one.as_string());
  };
  return Value::boolean(affix.is_list() ? std::any_of(affix.items().begin(), affix.items().end(), has) : has(affix));
}

template <bool kAtEnd>
Value remove_affix_method(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const std::string &text = self.as_string(), &affix = arguments.at(0, "prefix").as_string();
  const bool has = kAtEnd ? text.ends_with(affix) : text.starts_with(affix);
  return interpreter.text(
      !has         ? text
          : kAtEnd ? text.substr(0, text.size() - affix.size())
                   : text.substr(affix.size()));
}

template <std::string (*kChange)(const std::string&)>
Value change_method(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  arguments.check_count("the method", 0, 0);
  return interpreter.text(kChange(self.as_string()));
}

Value replace_method(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  arguments.check_count("replace", 2, 3);
  return interpreter.text(replace(
      interpreter, self.as_string(), arguments.at(0, "old").as_string(), arguments.at(1, "new").as_string(),
      integer_or(arguments, 2, "count", -1)));
}

Value join_method(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  arguments.check_count("join", 1, 1);
  std::string out;
  bool is_first = true;
  for (const Value& part : iterate(arguments.positional.at(0))) {
    interpreter.charge_steps(1);
    out += (is_first ? "" : self.as_string()) + part.as_string();
    is_first = false;
  }
  return interpreter.text(std::move(out));
}

template <bool kFromRight>
Value find_method(Interpreter&, const Value& self, const Arguments& arguments) {
  arguments.check_count("find", 1, 1);
  const std::string &text = self.as_string(), &part = arguments.at(0, "sub").as_string();
  const size_t at = kFromRight ? text.rfind(part) : text.find(part);
  return Value::integer(at == std::string::npos ? -1 : static_cast<int64_t>(count_characters(text.substr(0, at))));
}

Value count_in_text(Interpreter&, const Value& self, const Arguments& arguments) {
  arguments.check_count("count", 1, 1);
  const std::string &text = self.as_string(), &part = arguments.at(0, "sub").as_string();
  if (part.empty()) {
    return Value::integer(static_cast<int64_t>(count_characters(text)) + 1);
  }
  int64_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) {
    ++count;
  }
  return Value::integer(count);
}

bool is_digit_character(char32_t code) {
  return code < 0x80 ? code >= '0' && code <= '9' : is_numeric(code);
}
bool is_letter_or_digit(char32_t code) {
  return is_letter(code) || is_numeric(code);
}

template <bool (*kMatches)(char32_t)>
Value all_method(Interpreter&, const Value& self, const Arguments&) {
  bool all = !self.as_string().empty();
  for_each_character(self.as_string(), [&](char32_t code, size_t, size_t) { all &= kMatches(code); });
  return Value::boolean(all);
}

template <std::string (*kChange)(const std::string&)>
Value is_case_method(Interpreter&, const Value& self, const Arguments&) {
  bool has_letter = false;
  for_each_character(self.as_string(), [&](char32_t code, size_t, size_t) { has_letter |= is_cased(code); });
  return Value::boolean(has_letter && kChange(self.as_string()) == self.as_string());
}

Value split_lines(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const bool keeps = arguments.find(0, "keepends") && arguments.at(0, "keepends").truth();
  const std::string& text = self.as_string();
  List lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find_first_of("\n\r\v\f\x1c\x1d\x1e", begin), text.size());
    size_t next = std::min(end + 1, text.size());
    next += end < text.size() && text[end] == '\r' && next < text.size() && text[next] == '\n' ? 1 : 0;
    lines.push_back(interpreter.text(text.substr(begin, (keeps ? next : end) - begin)));
    begin = next;
  }
  return Value::list(std::move(lines));
}

/// "{}" and "{0}" of the arguments, "{name}" of the named ones.
Value format_braces(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const std::string& format = self.as_string();
  std::string out;
  size_t used = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    const char c = format[i];
    if ((c == '{' || c == '}') && i + 1 < format.size() && format[i + 1] == c) {
      out += c;
      ++i;
    } else if (c == '{') {
      const size_t end = format.find('}', i);
      TORCH_CHECK(end != std::string::npos, "expected '}' before end of string");
      const std::string name = format.substr(i + 1, end - i - 1);
      const bool is_index = !name.empty() && name.size() < 6 &&
          std::all_of(name.begin(), name.end(), [](char d) { return d >= '0' && d <= '9'; });
      const Value& value = name.empty() ? arguments.at(used++, "")
          : is_index                    ? arguments.at(std::stoul(name), "")
                                        : arguments.at(SIZE_MAX, name);
      out += value.to_text();
      i = end;
    } else {
      TORCH_CHECK(c != '}', "Single '}' encountered in format string");
      out += c;
    }
  }
  return interpreter.text(std::move(out));
}

Value dict_get(Interpreter&, const Value& self, const Arguments& arguments) {
  arguments.check_count("get", 1, 2);
  if (const Value* const found = self.find(arguments.at(0, "key"))) {
    return *found;
  }
  const Value* const fallback = arguments.find(1, "default");
  return fallback ? *fallback : Value::none();
}

Value dict_items(Interpreter& interpreter, const Value& self, const Arguments&) {
  List items;
  for (const auto& [key, value] : self.members()) {
    items.push_back(Value::tuple({key, value}));
  }
  interpreter.charge_steps(items.size());
  return Value::list(std::move(items));
}

template <bool kValues>
Value dict_parts(Interpreter& interpreter, const Value& self, const Arguments&) {
  List items;
  for (const auto& [key, value] : self.members()) {
    items.push_back(kValues ? value : key);
  }
  interpreter.charge_steps(items.size());
  return Value::list(std::move(items));
}

Value list_index(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  arguments.check_count("index", 1, 1);
  interpreter.charge_steps(self.items().size());
  for (size_t i = 0; i < self.items().size(); ++i) {
    if (equal(self.items()[i], arguments.at(0, "value"))) {
      return Value::integer(static_cast<int64_t>(i));
    }
  }
  TORCH_CHECK(false, "the value is not in the list");
}

Value list_count(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  arguments.check_count("count", 1, 1);
  interpreter.charge_steps(self.items().size());
  return Value::integer(std::count_if(self.items().begin(), self.items().end(), [&](const Value& item) {
    return equal(item, arguments.at(0, "value"));
  }));
}

Value copy_method(Interpreter&, const Value& self, const Arguments&) {
  return self;
}

constexpr NamedMethod kTextMethods[] = {
    {"split", split_method<false>},
    {"rsplit", split_method<true>},
    {"strip", strip_method<true, true>},
    {"lstrip", strip_method<true, false>},
    {"rstrip", strip_method<false, true>},
    {"startswith", affix_method<false>},
    {"endswith", affix_method<true>},
    {"removeprefix", remove_affix_method<false>},
    {"removesuffix", remove_affix_method<true>},
    {"upper", change_method<upper>},
    {"lower", change_method<lower>},
    {"title", change_method<title>},
    {"capitalize", change_method<capitalize>},
    {"replace", replace_method},
    {"join", join_method},
    {"find", find_method<false>},
    {"rfind", find_method<true>},
    {"count", count_in_text},
    {"isdigit", all_method<is_digit_character>},
    {"isnumeric", all_method<is_numeric>},
    {"isalpha", all_method<is_letter>},
    {"isalnum", all_method<is_letter_or_digit>},
    {"isspace", all_method<is_space>},
    {"isupper", is_case_method<upper>},
    {"islower", is_case_method<lower>},
    {"splitlines", split_lines},
    {"format", format_braces}};

constexpr NamedMethod kDictMethods[] = {
    {"get", dict_get},
    {"items", dict_items},
    {"keys", dict_parts<false>},
    {"values", dict_parts<true>},
    {"copy", copy_method}};

constexpr NamedMethod kListMethods[] = {{"index", list_index}, {"count", list_count}, {"copy", copy_method}};

template <size_t N>
Value bound(const NamedMethod (&methods)[N], const Value& self, std::string_view name) {
  for (const NamedMethod& entry : methods) {
    if (entry.name == name) {
      return Value::function(
          std::string(name), [self, method = entry.method](Interpreter& interpreter, const Arguments& arguments) {
            return method(interpreter, self, arguments);
          });
    }
  }
  return Value::undefined(std::string(name));
}

} // namespace

Value method(const Value& value, const std::string& name) {
  if (value.is_string()) {
    return bound(kTextMethods, value, name);
  }
  if (value.is_dict()) {
    return bound(kDictMethods, value, name);
  }
  return value.is_list() ? bound(kListMethods, value, name) : Value::undefined(name);
}

} // namespace torch::llm::jinja
