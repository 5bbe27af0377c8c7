// Operators, subscripts and slices.
#include <csrc/llm/template/interpreter.h>
#include <csrc/llm/tokenizer/utf8.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>

namespace torch::llm::jinja {

namespace {

constexpr int64_t kMaxRepeats = 1 << 24;

void check_fits(bool overflows) {
  TORCH_CHECK(!overflows, "an integer of the template does not fit into 64 bits");
}

int64_t floor_divide(int64_t a, int64_t b) {
  TORCH_CHECK(b != 0, "integer division or modulo by zero");
  check_fits(a == INT64_MIN && b == -1);
  return a / b - ((a % b != 0 && (a % b < 0) != (b < 0)) ? 1 : 0);
}

Value integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    return Value::floating(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  int64_t result = 1;
  bool overflows = false;
  if (base == 0 || base == 1 || base == -1) {
    return Value::integer(exponent == 0 ? 1 : base == -1 && exponent % 2 == 0 ? 1 : base);
  }
  for (int64_t i = 0; i < exponent && !overflows; ++i) {
    overflows = __builtin_mul_overflow(result, base, &result);
  }
  check_fits(overflows);
  return Value::integer(result);
}

Value integer_binary(std::string_view sign, int64_t a, int64_t b) {
  int64_t result = 0;
  if (sign == "+") {
    check_fits(__builtin_add_overflow(a, b, &result));
    return Value::integer(result);
  }
  if (sign == "-") {
    check_fits(__builtin_sub_overflow(a, b, &result));
    return Value::integer(result);
  }
  if (sign == "*") {
    check_fits(__builtin_mul_overflow(a, b, &result));
    return Value::integer(result);
  }
  if (sign == "//") {
    return Value::integer(floor_divide(a, b));
  }
  if (sign == "%") {
    const int64_t quotient = floor_divide(a, b);
    return Value::integer(a - quotient * b);
  }
  if (sign == "/") {
    TORCH_CHECK(b != 0, "division by zero");
    return Value::floating(static_cast<double>(a) / static_cast<double>(b));
  }
  return integer_power(a, b);
}

Value float_binary(std::string_view sign, double a, double b) {
  if (sign == "+" || sign == "-") {
    return Value::floating(sign == "+" ? a + b : a - b);
  }
  if (sign == "*") {
    return Value::floating(a * b);
  }
  if (sign == "**") {
    return Value::floating(std::pow(a, b));
  }
  TORCH_CHECK(b != 0, "float division by zero");
  if (sign == "/") {
    return Value::floating(a / b);
  }
  const double quotient = std::floor(a / b);
  return Value::floating(sign == "//" ? quotient : a - quotient * b);
}

Value repeat(Interpreter& interpreter, const Value& value, int64_t count) {
  count = std::max<int64_t>(count, 0);
  TORCH_CHECK(count <= kMaxRepeats, "a value is repeated ", count, " times; at most ", kMaxRepeats, " are supported");
  const auto times = static_cast<size_t>(count);
  if (value.is_string()) {
    const std::string& text = value.as_string();
    interpreter.charge_steps(text.size() * times / 16);
    std::string out;
    for (size_t i = 0; i < times; ++i) {
      out += text;
    }
    return interpreter.text(std::move(out));
  }
  interpreter.charge_steps(value.items().size() * times);
  List items;
  for (size_t i = 0; i < times; ++i) {
    items.insert(items.end(), value.items().begin(), value.items().end());
  }
  return Value::list(std::move(items));
}

void check_defined(const Value& value) {
  TORCH_CHECK(!value.is_undefined(), "'", value.undefined_name(), "' is undefined");
}

/// The bounds of a slice as Python has them, for a step that is not 0.
struct SliceBounds {
  int64_t start;
  int64_t stop;
  int64_t step;
};

SliceBounds slice_bounds(const Value& start, const Value& stop, const Value& step, int64_t size) {
  SliceBounds bounds{0, 0, step.is_none() ? 1 : step.as_int()};
  TORCH_CHECK(bounds.step != 0, "slice step cannot be zero");
  const bool back = bounds.step < 0;
  const auto clamp = [&](const Value& value, int64_t fallback) {
    if (value.is_none()) {
      return fallback;
    }
    int64_t index = value.as_int();
    index = index < 0 ? std::max<int64_t>(index + size, back ? -1 : 0) : index;
    return std::min(index, back ? size - 1 : size);
  };
  bounds.start = clamp(start, back ? size - 1 : 0);
  bounds.stop = clamp(stop, back ? -1 : size);
  return bounds;
}

} // namespace

Value binary(Interpreter& interpreter, std::string_view sign, const Value& a, const Value& b) {
  if (sign == "~") {
    return interpreter.text(a.to_text() + b.to_text());
  }
  check_defined(a);
  check_defined(b);
  if (a.is_number() && b.is_number()) {
    return a.is_float() || b.is_float() ? float_binary(sign, a.as_double(), b.as_double())
                                        : integer_binary(sign, a.as_int(), b.as_int());
  }
  if (sign == "+" && a.is_string() && b.is_string()) {
    return interpreter.text(a.as_string() + b.as_string());
  }
  if (sign == "+" && a.is_list() && b.is_list()) {
    List items = a.items();
    items.insert(items.end(), b.items().begin(), b.items().end());
    interpreter.charge_steps(items.size());
    return Value::list(std::move(items));
  }
  if (sign == "*" && (a.is_string() || a.is_list()) && (b.is_int() || b.is_bool())) {
    return repeat(interpreter, a, b.as_int());
  }
  if (sign == "*" && (b.is_string() || b.is_list()) && (a.is_int() || a.is_bool())) {
    return repeat(interpreter, b, a.as_int());
  }
  if (sign == "%" && a.is_string()) {
    return interpreter.text(format_percent(a.as_string(), b));
  }
  TORCH_CHECK(
      false, "unsupported operand type(s) for ", sign, ": '", a.type_name(), "' and '", b.type_name(), "'",
      sign == "+" && (a.is_string() || b.is_string()) ? "; use ~ to join texts" : "");
}

Value attribute(const Value& value, const std::string& name) {
  check_defined(value);
  Value found = method(value, name);
  if (!found.is_undefined()) {
    return found;
  }
  if (value.is_dict() || value.is_namespace()) {
    if (const Value* const member = value.find(name)) {
      return *member;
    }
  }
  return Value::undefined(name);
}

Value item(const Value& value, const Value& key) {
  check_defined(value);
  if ((value.is_list() || value.is_string()) && (key.is_int() || key.is_bool())) {
    const int64_t size = length(value), index = key.as_int() < 0 ? key.as_int() + size : key.as_int();
    if (index < 0 || index >= size) {
      return Value::undefined(std::string(value.type_name()) + " object has no element " + key.to_text());
    }
    if (value.is_list()) {
      return value.items()[static_cast<size_t>(index)];
    }
    return iterate(value)[static_cast<size_t>(index)];
  }
  if (value.is_dict() || value.is_namespace()) {
    if (const Value* const member = value.find(key)) {
      return *member;
    }
  }
  return key.is_string() ? method(value, key.as_string())
                         : Value::undefined(std::string(value.type_name()) + " object has no element " + key.to_text());
}

Value slice(Interpreter& interpreter, const Value& value, const Value& start, const Value& stop, const Value& step) {
  check_defined(value);
  TORCH_CHECK(value.is_list() || value.is_string(), "'", value.type_name(), "' object cannot be sliced");
  const List all = iterate(value);
  const SliceBounds bounds = slice_bounds(start, stop, step, static_cast<int64_t>(all.size()));
  List picked;
  for (int64_t i = bounds.start; bounds.step > 0 ? i < bounds.stop : i > bounds.stop;) {
    picked.push_back(all[static_cast<size_t>(i)]);
    if (__builtin_add_overflow(i, bounds.step, &i)) {
      break;
    }
  }
  interpreter.charge_steps(all.size());
  if (value.is_list()) {
    return value.is_tuple() ? Value::tuple(std::move(picked)) : Value::list(std::move(picked));
  }
  std::string text;
  for (const Value& character : picked) {
    text += character.as_string();
  }
  return interpreter.text(std::move(text));
}

bool contains(Interpreter& interpreter, const Value& container, const Value& value) {
  if (container.is_string()) {
    TORCH_CHECK(value.is_string(), "'in <string>' requires string as left operand, not ", value.type_name());
    interpreter.charge_steps(container.as_string().size() / 64);
    return container.as_string().find(value.as_string()) != std::string::npos;
  }
  if (container.is_dict()) {
    interpreter.charge_steps(container.members().size());
    return container.find(value) != nullptr;
  }
  const List items = iterate(container);
  interpreter.charge_steps(items.size());
  return std::any_of(items.begin(), items.end(), [&](const Value& item) { return equal(item, value); });
}

} // namespace torch::llm::jinja
