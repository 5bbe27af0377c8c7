// Filters of templates.
#include <csrc/llm/template/interpreter.h>
#include <csrc/llm/tokenizer/utf8.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace torch::llm::jinja {

namespace {

using Filter = Value (*)(Interpreter&, const Value&, const Arguments&);

struct NamedFilter {
  std::string_view name;
  Filter filter;
};

bool flag_or(const Arguments& arguments, size_t position, std::string_view name, bool fallback) {
  const Value* const given = arguments.find(position, name);
  return given ? given->truth() : fallback;
}

/// The text after "a" of value.a.b, or an item at an integer; as filters name attributes.
Value attribute_path(const Value& value, const Value& path) {
  if (!path.is_string()) {
    return item(value, path);
  }
  Value found = value;
  const std::string& text = path.as_string();
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('.', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    int64_t index = 0;
    const bool is_index = !name.empty() &&
        std::from_chars(name.data(), name.data() + name.size(), index).ptr == name.data() + name.size();
    found = item(found, is_index ? Value::integer(index) : Value::string(name));
    begin = end + 1;
  }
  return found;
}

Value filter_abs(Interpreter& interpreter, const Value& value, const Arguments&) {
  return value.as_double() < 0 ? binary(interpreter, "-", Value::integer(0), value) : value;
}

template <std::string (*kChange)(const std::string&)>
Value filter_change(Interpreter& interpreter, const Value& value, const Arguments&) {
  return interpreter.text(kChange(value.to_text()));
}

Value filter_length(Interpreter&, const Value& value, const Arguments&) {
  return Value::integer(length(value));
}

Value filter_default(Interpreter&, const Value& value, const Arguments& arguments) {
  arguments.check_count("default", 0, 2);
  const bool replaces = value.is_undefined() || (flag_or(arguments, 1, "boolean", false) && !value.truth());
  const Value* const fallback = arguments.find(0, "default_value");
  return !replaces ? value : fallback ? *fallback : Value::string("");
}

Value filter_dictsort(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const bool case_sensitive = flag_or(arguments, 0, "case_sensitive", false);
  const Value* const by = arguments.find(1, "by");
  const bool by_value = by && by->as_string() == "value";
  Dict members = value.members();
  interpreter.charge_steps(members.size() * 8);
  const auto key_of = [&](const std::pair<Value, Value>& member) {
    const Value& key = by_value ? member.second : member.first;
    return key.is_string() && !case_sensitive ? Value::string(lower(key.as_string())) : key;
  };
  std::stable_sort(
      members.begin(), members.end(), [&](const auto& a, const auto& b) { return less(key_of(a), key_of(b)); });
  if (flag_or(arguments, 2, "reverse", false)) {
    std::reverse(members.begin(), members.end());
  }
  List items;
  for (const auto& [key, member] : members) {
    items.push_back(Value::tuple({key, member}));
  }
  return Value::list(std::move(items));
}

Value filter_escape(Interpreter& interpreter, const Value& value, const Arguments&) {
  std::string out;
  for (const char c : value.to_text()) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '"':
        out += "&#34;";
        break;
      default:
        out += c;
    }
  }
  return interpreter.text(std::move(out));
}

template <bool kLast>
Value filter_end(Interpreter& interpreter, const Value& value, const Arguments&) {
  const List items = iterate(value);
  interpreter.charge_steps(items.size());
  return items.empty() ? Value::undefined("No first item, sequence was empty.") : kLast ? items.back() : items.front();
}

Value filter_float(Interpreter&, const Value& value, const Arguments& arguments) {
  if (value.is_number()) {
    return Value::floating(value.as_double());
  }
  const Value* const fallback = arguments.find(0, "default");
  if (value.is_string()) {
    const std::string text = strip(value.as_string(), nullptr, true, true);
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) {
      return Value::floating(number);
    }
  }
  return fallback ? *fallback : Value::floating(0);
}

Value filter_int(Interpreter&, const Value& value, const Arguments& arguments) {
  const Value* const fallback = arguments.find(0, "default");
  const auto whole = [&](double number) {
    TORCH_CHECK(!(std::abs(number) >= 9e18), "int: ", number, " does not fit into 64 bits");
    return !std::isnan(number) ? Value::integer(static_cast<int64_t>(number))
        : fallback             ? *fallback
                               : Value::integer(0);
  };
  if (value.is_number()) {
    return value.is_float() ? whole(value.as_double()) : Value::integer(value.as_int());
  }
  if (value.is_string()) {
    const std::string text = strip(value.as_string(), nullptr, true, true);
    const char *const first = text.data() + (text.starts_with('+') ? 1 : 0), *const last = text.data() + text.size();
    int64_t number = 0;
    if (const auto [end, error] = std::from_chars(first, last, number); error == std::errc() && end == last) {
      return Value::integer(number);
    }
    double real = 0;
    if (const auto [end, error] = std::from_chars(first, last, real); error == std::errc() && end == last) {
      return whole(real);
    }
  }
  return fallback ? *fallback : Value::integer(0);
}

Value filter_format(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  return interpreter.text(format_percent(value.to_text(), Value::list(arguments.positional)));
}

Value filter_indent(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const Value* const width = arguments.find(0, "width");
  const int64_t count = width && !width->is_string() ? width->as_int() : 4;
  TORCH_CHECK(count >= 0 && count <= 1000, "indent: a width of ", count, " is not in [0, 1000]");
  const std::string indentation =
      width && width->is_string() ? width->as_string() : std::string(static_cast<size_t>(count), ' ');
  const bool first = flag_or(arguments, 1, "first", false), blank = flag_or(arguments, 2, "blank", false);
  const std::string& text = value.as_string();
  std::string out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const bool is_first = begin == 0;
    out += is_first ? "" : "\n";
    out += (is_first ? first : blank || end > begin) ? indentation : "";
    interpreter.charge_steps(1 + indentation.size() / 16);
    out.append(text, begin, end - begin);
    begin = end + 1;
  }
  return interpreter.text(std::move(out));
}

Value filter_items(Interpreter& interpreter, const Value& value, const Arguments&) {
  return value.is_undefined() ? Value::list({}) : interpreter.call(method(value, "items"), {});
}

Value filter_join(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  arguments.check_count("join", 0, 2);
  const Value* const separator = arguments.find(0, "d");
  const Value* const path = arguments.find(1, "attribute");
  std::string out;
  bool is_first = true;
  for (const Value& part : iterate(value)) {
    interpreter.charge_steps(1);
    out += !is_first && separator ? separator->to_text() : "";
    out += (path ? attribute_path(part, *path) : part).to_text();
    is_first = false;
  }
  return interpreter.text(std::move(out));
}

Value filter_list(Interpreter& interpreter, const Value& value, const Arguments&) {
  List items = iterate(value);
  interpreter.charge_steps(items.size());
  return Value::list(std::move(items));
}

Arguments without_first(const Arguments& arguments, size_t count) {
  Arguments rest;
  for (size_t i = count; i < arguments.positional.size(); ++i) {
    rest.positional.push_back(arguments.positional[i]);
  }
  rest.named = arguments.named;
  return rest;
}

Value filter_map(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  List out;
  const Value* const path = arguments.positional.empty() ? arguments.find(0, "attribute") : nullptr;
  const Value* const fallback = arguments.find(SIZE_MAX, "default");
  for (const Value& one : value.truth() ? iterate(value) : List{}) {
    interpreter.charge_steps(1);
    if (path) {
      const Value found = attribute_path(one, *path);
      out.push_back(found.is_undefined() && fallback ? *fallback : found);
    } else {
      out.push_back(interpreter.apply_filter(arguments.at(0, "filter").as_string(), one, without_first(arguments, 1)));
    }
  }
  return Value::list(std::move(out));
}

/// select, reject, selectattr and rejectattr.
template <bool kKeeps, bool kAttribute>
Value filter_select(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const size_t test_position = kAttribute ? 1 : 0;
  const Value* const test = arguments.find(test_position, "test");
  const Arguments rest = without_first(arguments, test_position + 1);
  List out;
  for (const Value& one : value.truth() ? iterate(value) : List{}) {
    interpreter.charge_steps(1);
    const Value looked_at = kAttribute ? attribute_path(one, arguments.at(0, "attribute")) : one;
    const bool holds = test ? interpreter.apply_test(test->as_string(), looked_at, rest) : looked_at.truth();
    if (holds == kKeeps) {
      out.push_back(one);
    }
  }
  return Value::list(std::move(out));
}

template <bool kMost>
Value filter_extreme(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const Value* const path = arguments.find(1, "attribute");
  const List items = iterate(value);
  interpreter.charge_steps(items.size());
  const auto key = [&](const Value& one) { return path ? attribute_path(one, *path) : one; };
  const auto before = [&](const Value& a, const Value& b) { return less(key(a), key(b)); };
  if (items.empty()) {
    return Value::undefined("No aggregated item, sequence was empty.");
  }
  return kMost ? *std::max_element(items.begin(), items.end(), before)
               : *std::min_element(items.begin(), items.end(), before);
}

Value filter_replace(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  arguments.check_count("replace", 2, 3);
  const Value* const count = arguments.find(2, "count");
  return interpreter.text(replace(
      interpreter, value.to_text(), arguments.at(0, "old").to_text(), arguments.at(1, "new").to_text(),
      count && !count->is_none() ? count->as_int() : -1));
}

Value filter_reverse(Interpreter& interpreter, const Value& value, const Arguments&) {
  List items = iterate(value);
  interpreter.charge_steps(items.size());
  std::reverse(items.begin(), items.end());
  if (!value.is_string()) {
    return Value::list(std::move(items));
  }
  std::string text;
  for (const Value& character : items) {
    text += character.as_string();
  }
  return interpreter.text(std::move(text));
}

Value filter_round(Interpreter&, const Value& value, const Arguments& arguments) {
  const Value *const precision = arguments.find(0, "precision"), *const how = arguments.find(1, "method");
  const int64_t digits = precision ? precision->as_int() : 0;
  const std::string mode = how ? how->as_string() : "common";
  TORCH_CHECK(mode == "common" || mode == "ceil" || mode == "floor", "method must be common, ceil or floor");
  TORCH_CHECK(digits >= 0 && digits <= 30, "round: a precision of ", digits, " is not in [0, 30]");
  if (mode != "common") {
    const double factor = std::pow(10.0, static_cast<double>(digits)), scaled = value.as_double() * factor;
    return Value::floating((mode == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / factor);
  }
  if (!value.is_float()) {
    return Value::integer(value.as_int());
  }
  char buffer[400];
  const int size = std::snprintf(buffer, sizeof buffer, "%.*f", static_cast<int>(digits), value.as_double());
  double rounded = value.as_double();
  std::from_chars(buffer, buffer + size, rounded);
  return Value::floating(rounded);
}

Value filter_sort(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const bool case_sensitive = flag_or(arguments, 1, "case_sensitive", false);
  const Value* const path = arguments.find(2, "attribute");
  List items = iterate(value);
  interpreter.charge_steps(items.size() * 16);
  const auto key = [&](const Value& one) {
    Value found = path ? attribute_path(one, *path) : one;
    return found.is_string() && !case_sensitive ? Value::string(lower(found.as_string())) : found;
  };
  std::vector<std::pair<Value, Value>> keyed;
  for (Value& one : items) {
    keyed.emplace_back(key(one), one);
  }
  const bool reverse = flag_or(arguments, 0, "reverse", false);
  std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
    return reverse ? less(b.first, a.first) : less(a.first, b.first);
  });
  for (size_t i = 0; i < items.size(); ++i) {
    items[i] = keyed[i].second;
  }
  return Value::list(std::move(items));
}

Value filter_string(Interpreter& interpreter, const Value& value, const Arguments&) {
  return interpreter.text(value.to_text());
}

Value filter_sum(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const Value *const path = arguments.find(0, "attribute"), *const start = arguments.find(1, "start");
  Value sum = start ? *start : Value::integer(0);
  for (const Value& one : iterate(value)) {
    interpreter.charge_steps(1);
    sum = binary(interpreter, "+", sum, path && !path->is_none() ? attribute_path(one, *path) : one);
  }
  return sum;
}

Value filter_tojson(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const Value* const indent = arguments.find(1, "indent");
  const Value* const width = indent ? indent : arguments.find(SIZE_MAX, "indent");
  const int64_t spaces = width && !width->is_none() ? width->as_int() : -1;
  TORCH_CHECK(spaces <= 40, "tojson: an indent of ", spaces, " is more than 40");
  interpreter.charge_steps(1);
  return interpreter.text(
      to_json(value, static_cast<int>(std::max<int64_t>(spaces, -1)), flag_or(arguments, 3, "sort_keys", false)));
}

/// Unlike the method: words begin after spaces, hyphens and opening brackets.
Value filter_title(Interpreter& interpreter, const Value& value, const Arguments&) {
  std::string out, word;
  const std::string text = value.to_text();
  const auto end_word = [&] {
    out += capitalize(word);
    word.clear();
  };
  for_each_character(text, [&](char32_t code, size_t offset, size_t size) {
    const bool separates = code == '-' || code == '(' || code == '{' || code == '[' || code == '<' ||
        strip(text.substr(offset, size), nullptr, true, true).empty();
    if (separates) {
      end_word();
    }
    (separates ? out : word).append(text, offset, size);
  });
  end_word();
  return interpreter.text(std::move(out));
}

Value filter_trim(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  return interpreter.text(strip(value.to_text(), arguments.find(0, "chars"), true, true));
}

Value filter_unique(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const bool case_sensitive = flag_or(arguments, 0, "case_sensitive", false);
  const Value* const path = arguments.find(1, "attribute");
  List out, seen;
  for (const Value& one : iterate(value)) {
    Value key = path ? attribute_path(one, *path) : one;
    key = key.is_string() && !case_sensitive ? Value::string(lower(key.as_string())) : key;
    TORCH_CHECK(!key.is_dict() && (!key.is_list() || key.is_tuple()), "unhashable type: '", key.type_name(), "'");
    interpreter.charge_steps(1 + seen.size());
    if (std::none_of(seen.begin(), seen.end(), [&](const Value& other) { return equal(other, key); })) {
      seen.push_back(std::move(key));
      out.push_back(one);
    }
  }
  return Value::list(std::move(out));
}

Value filter_attr(Interpreter&, const Value& value, const Arguments& arguments) {
  return attribute(value, arguments.at(0, "name").as_string());
}

Value filter_safe(Interpreter&, const Value& value, const Arguments&) {
  return value;
}

constexpr NamedFilter kFilters[] = {
    {"abs", filter_abs},
    {"attr", filter_attr},
    {"capitalize", filter_change<capitalize>},
    {"count", filter_length},
    {"d", filter_default},
    {"default", filter_default},
    {"dictsort", filter_dictsort},
    {"e", filter_escape},
    {"escape", filter_escape},
    {"first", filter_end<false>},
    {"float", filter_float},
    {"format", filter_format},
    {"indent", filter_indent},
    {"int", filter_int},
    {"items", filter_items},
    {"join", filter_join},
    {"last", filter_end<true>},
    {"length", filter_length},
    {"list", filter_list},
    {"lower", filter_change<lower>},
    {"map", filter_map},
    {"max", filter_extreme<true>},
    {"min", filter_extreme<false>},
    {"reject", filter_select<false, false>},
    {"rejectattr", filter_select<false, true>},
    {"replace", filter_replace},
    {"reverse", filter_reverse},
    {"round", filter_round},
    {"safe", filter_safe},
    {"select", filter_select<true, false>},
    {"selectattr", filter_select<true, true>},
    {"sort", filter_sort},
    {"string", filter_string},
    {"sum", filter_sum},
    {"title", filter_title},
    {"tojson", filter_tojson},
    {"trim", filter_trim},
    {"unique", filter_unique},
    {"upper", filter_change<upper>}};

} // namespace

Value Interpreter::apply_filter(std::string_view name, const Value& value, const Arguments& arguments) {
  const auto found = std::find_if(
      std::begin(kFilters), std::end(kFilters), [name](const NamedFilter& entry) { return entry.name == name; });
  TORCH_CHECK(found != std::end(kFilters), "No filter named '", name, "'");
  return found->filter(*this, value, arguments);
}

} // namespace torch::llm::jinja
