// The table of functions, and those on numbers and lists.
#include <csrc/fx/function.h>

#include <csrc/fx/builtin_functions.h>
#include <c10/core/Scalar.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

namespace torch::fx {

namespace {

using c10::IValue;

// --- numbers, as Python computes them

bool is_float(const IValue& value) {
  return value.isDouble();
}

const IValue& number(const std::vector<Operand>& operands, size_t index, const char* name) {
  TORCH_CHECK(index < operands.size(), name, ": there is no operand ", index);
  const IValue& value = operands[index].value;
  TORCH_CHECK(
      value.isInt() || value.isDouble() || value.isBool(), name, ": expected a number, got a ", value.tagKind());
  return value;
}

int64_t as_int(const IValue& value) {
  return value.isBool() ? value.toBool() : value.toInt();
}

double as_double(const IValue& value) {
  return value.isDouble() ? value.toDouble() : static_cast<double>(as_int(value));
}

[[noreturn]] void overflow(const char* name) {
  TORCH_CHECK(false, name, ": the result does not fit into 64 bits");
}

int64_t checked_div(int64_t a, int64_t b, const char* name) {
  TORCH_CHECK(b != 0, name, ": division by zero");
  if (a == INT64_MIN && b == -1) {
    overflow(name);
  }
  const int64_t quotient = a / b;
  return quotient - ((a % b != 0) && ((a < 0) != (b < 0)) ? 1 : 0);
}

int64_t int_pow(int64_t base, int64_t exponent, const char* name) {
  int64_t result = 1;
  while (exponent > 0) {
    if ((exponent & 1) && __builtin_mul_overflow(result, base, &result)) {
      overflow(name);
    }
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) {
      overflow(name);
    }
  }
  return result;
}

int64_t to_int(double value, const char* name) {
  TORCH_CHECK(
      value >= -9223372036854775808.0 && value < 9223372036854775808.0, name, ": cannot convert ", value,
      " to an integer of 64 bits");
  return static_cast<int64_t>(value);
}

double float_mod(double a, double b, const char* name) {
  TORCH_CHECK(b != 0, name, ": division by zero");
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

enum class Arithmetic { Add, Sub, Mul, FloorDiv, Mod, Pow, TrueDiv, And, Or, Xor, LShift, RShift };

IValue on_floats(Arithmetic op, double a, double b, const char* name) {
  switch (op) {
    case Arithmetic::Add:
      return a + b;
    case Arithmetic::Sub:
      return a - b;
    case Arithmetic::Mul:
      return a * b;
    case Arithmetic::FloorDiv:
      TORCH_CHECK(b != 0, name, ": division by zero");
      return std::floor(a / b);
    case Arithmetic::Mod:
      return float_mod(a, b, name);
    case Arithmetic::Pow:
      return std::pow(a, b);
    case Arithmetic::TrueDiv:
      TORCH_CHECK(b != 0, name, ": division by zero");
      return a / b;
    default:
      TORCH_CHECK(false, name, ": expected integers");
  }
}

IValue on_ints(Arithmetic op, int64_t a, int64_t b, const char* name) {
  int64_t out = 0;
  bool overflows = false;
  switch (op) {
    case Arithmetic::Add:
      overflows = __builtin_add_overflow(a, b, &out);
      break;
    case Arithmetic::Sub:
      overflows = __builtin_sub_overflow(a, b, &out);
      break;
    case Arithmetic::Mul:
      overflows = __builtin_mul_overflow(a, b, &out);
      break;
    case Arithmetic::FloorDiv:
      return checked_div(a, b, name);
    case Arithmetic::Mod:
      return b == -1 ? int64_t(0) : a - checked_div(a, b, name) * b;
    case Arithmetic::Pow:
      if (b < 0) {
        return std::pow(static_cast<double>(a), static_cast<double>(b));
      }
      return int_pow(a, b, name);
    case Arithmetic::TrueDiv:
      return on_floats(op, static_cast<double>(a), static_cast<double>(b), name);
    case Arithmetic::And:
      return a & b;
    case Arithmetic::Or:
      return a | b;
    case Arithmetic::Xor:
      return a ^ b;
    case Arithmetic::LShift:
    case Arithmetic::RShift:
      TORCH_CHECK(b >= 0, name, ": negative shift count");
      if (op == Arithmetic::RShift) {
        return b > 63 ? int64_t(a < 0 ? -1 : 0) : a >> b;
      }
      overflows = b > 62 ? a != 0 : __builtin_mul_overflow(a, int64_t(1) << b, &out);
      break;
  }
  if (overflows) {
    overflow(name);
  }
  return out;
}

Function arithmetic(const char* name, Arithmetic op) {
  return {name, [op, name](GraphRunner&, std::vector<Operand>& operands) -> std::vector<IValue> {
            const IValue &a = number(operands, 0, name), &b = number(operands, 1, name);
            if (is_float(a) || is_float(b)) {
              return {on_floats(op, as_double(a), as_double(b), name)};
            }
            const bool is_logical = op == Arithmetic::And || op == Arithmetic::Or || op == Arithmetic::Xor;
            if (is_logical && a.isBool() && b.isBool()) {
              return {on_ints(op, as_int(a), as_int(b), name).toInt() != 0};
            }
            return {on_ints(op, as_int(a), as_int(b), name)};
          }};
}

/// -1, 0 or 1; 2 where a NaN is compared.
int compare(const IValue& a, const IValue& b) {
  if (is_float(a) || is_float(b)) {
    const double x = as_double(a), y = as_double(b);
    return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
  }
  const int64_t x = as_int(a), y = as_int(b);
  return x < y ? -1 : x > y ? 1 : 0;
}

template <class Holds>
Function comparison(const char* name, Holds holds) {
  return {name, [holds, name](GraphRunner&, std::vector<Operand>& operands) -> std::vector<IValue> {
            return {holds(compare(number(operands, 0, name), number(operands, 1, name)))};
          }};
}

template <class Compute>
Function unary(const char* name, Compute compute) {
  return {name, [compute, name](GraphRunner&, std::vector<Operand>& operands) -> std::vector<IValue> {
            return {compute(number(operands, 0, name))};
          }};
}

Function math(const char* name, double (*function)(double)) {
  return unary(name, [function](const IValue& value) -> IValue { return function(as_double(value)); });
}

IValue negated(const IValue& value) {
  return is_float(value) ? IValue(-value.toDouble()) : on_ints(Arithmetic::Sub, 0, as_int(value), "neg");
}

IValue absolute(const IValue& value) {
  return is_float(value) ? IValue(std::abs(value.toDouble())) : as_int(value) < 0 ? negated(value) : as_int(value);
}

/// Python rounds to even.
IValue rounded(const IValue& value) {
  return is_float(value) ? to_int(std::nearbyint(value.toDouble()), "round") : as_int(value);
}

template <class Round>
Function to_integer(const char* name, Round round) {
  return unary(name, [round, name](const IValue& value) -> IValue {
    return is_float(value) ? to_int(round(value.toDouble()), name) : as_int(value);
  });
}

/// The least or the greatest; a float when one of them is.
Function extreme(const char* name, int wanted) {
  return {name, [wanted, name](GraphRunner&, std::vector<Operand>& operands) -> std::vector<IValue> {
            IValue best = number(operands, 0, name);
            bool floats = is_float(best);
            for (size_t i = 1; i < operands.size(); ++i) {
              const IValue& other = number(operands, i, name);
              floats = floats || is_float(other);
              best = compare(other, best) == wanted ? other : best;
            }
            return {floats ? IValue(as_double(best)) : IValue(as_int(best))};
          }};
}

// --- parts of lists

std::vector<IValue> getitem(GraphRunner&, std::vector<Operand>& operands) {
  TORCH_CHECK(operands.size() == 2 && operands[1].value.isInt(), "getitem: expected a list and a number");
  const IValue& from = operands[0].value;
  const int64_t index = operands[1].value.toInt();
  const auto pick = [&](const auto& items) -> IValue {
    const auto size = static_cast<int64_t>(items.size());
    TORCH_CHECK(index >= -size && index < size, "getitem: list index ", index, " out of range for ", size, " elements");
    return items[static_cast<size_t>(index < 0 ? index + size : index)];
  };
  if (from.isTuple()) {
    return {pick(from.toTupleRef().elements())};
  }
  TORCH_CHECK(from.isList(), "getitem: expected a list, got a ", from.tagKind());
  return {pick(from.toListRef())};
}

std::vector<IValue> unpack(GraphRunner&, std::vector<Operand>& operands) {
  TORCH_CHECK(operands.size() == 1, "unpack: expected a list");
  return list_items(operands[0]);
}

std::vector<IValue> sum_of_list(GraphRunner&, std::vector<Operand>& operands) {
  TORCH_CHECK(operands.size() == 1, "sym_sum: expected a list");
  IValue sum = int64_t(0);
  for (const IValue& item : list_items(operands[0])) {
    TORCH_CHECK(item.isInt() || item.isBool(), "sym_sum: expected integers, got a ", item.tagKind());
    sum = on_ints(Arithmetic::Add, sum.toInt(), as_int(item), "sym_sum");
  }
  return {sum};
}

std::vector<IValue> choose(GraphRunner&, std::vector<Operand>& operands) {
  TORCH_CHECK(operands.size() == 3, "sym_ite: expected a condition and two values");
  return {as_int(number(operands, 0, "sym_ite")) != 0 ? operands[1].value : operands[2].value};
}

struct Table {
  std::mutex mutex;
  std::map<std::string, Function> functions;

  Table() {
    add_numbers();
    add({"getitem", getitem, true, true});
    add({"unpack", unpack, true, true});
    add({"sym_ite", choose});
    add({"sym_sum", sum_of_list});
    for (Function& function : higher_order_functions()) {
      add(std::move(function));
    }
  }

  void add(Function function) {
    std::string name = function.name;
    functions.emplace(std::move(name), std::move(function));
  }

  void add_numbers() {
    for (const auto& [name, op] :
         {std::pair("add", Arithmetic::Add), std::pair("sub", Arithmetic::Sub), std::pair("mul", Arithmetic::Mul),
          std::pair("floordiv", Arithmetic::FloorDiv), std::pair("mod", Arithmetic::Mod),
          std::pair("pow", Arithmetic::Pow), std::pair("truediv", Arithmetic::TrueDiv),
          std::pair("and_", Arithmetic::And), std::pair("or_", Arithmetic::Or), std::pair("xor", Arithmetic::Xor),
          std::pair("lshift", Arithmetic::LShift), std::pair("rshift", Arithmetic::RShift)}) {
      add(arithmetic(name, op));
    }
    add(comparison("eq", [](int order) { return order == 0; }));
    add(comparison("ne", [](int order) { return order != 0; }));
    add(comparison("lt", [](int order) { return order == -1; }));
    add(comparison("le", [](int order) { return order == -1 || order == 0; }));
    add(comparison("gt", [](int order) { return order == 1; }));
    add(comparison("ge", [](int order) { return order == 1 || order == 0; }));
    add(extreme("sym_max", 1));
    add(extreme("sym_min", -1));
    add(unary("neg", negated));
    add(unary("pos", [](const IValue& value) { return value.isBool() ? IValue(as_int(value)) : value; }));
    add(unary("abs", absolute));
    add(unary("round", rounded));
    add(unary("sym_not", [](const IValue& value) -> IValue { return as_int(value) == 0; }));
    add(unary("sym_float", [](const IValue& value) -> IValue { return as_double(value); }));
    const auto truncate = [](double value) { return std::trunc(value); };
    add(to_integer("sym_int", truncate));
    add(to_integer("trunc", truncate));
    add(to_integer("floor", [](double value) { return std::floor(value); }));
    add(to_integer("ceil", [](double value) { return std::ceil(value); }));
    add_math();
  }

  void add_math() {
    add(math("sym_sqrt", std::sqrt));
    add(math("sym_sin", std::sin));
    add(math("sym_cos", std::cos));
    add(math("sym_tan", std::tan));
    add(math("sym_sinh", std::sinh));
    add(math("sym_cosh", std::cosh));
    add(math("sym_tanh", std::tanh));
    add(math("sym_asin", std::asin));
    add(math("sym_acos", std::acos));
    add(math("sym_atan", std::atan));
    add(math("sym_log2", std::log2));
    add(math("sym_exp", std::exp));
    add(math("sym_log", std::log));
  }
};

Table& table() {
  static Table* const all = new Table();
  return *all;
}

} // namespace

std::vector<IValue> list_items(const Operand& operand) {
  const IValue& value = operand.value;
  if (value.isTuple()) {
    const auto& elements = value.toTupleRef().elements();
    return std::vector<IValue>(elements.begin(), elements.end());
  }
  TORCH_CHECK(value.isList(), "expected a list, got a ", value.tagKind());
  const auto items = value.toListRef();
  return std::vector<IValue>(items.begin(), items.end());
}

const Function* find_function(const std::string& name) {
  Table& all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.functions.find(name);
  return found == all.functions.end() ? nullptr : &found->second;
}

const Function& register_function(Function function) {
  Table& all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const std::string name = function.name;
  const auto [place, is_new] = all.functions.emplace(name, std::move(function));
  TORCH_CHECK(is_new, "there is a function '", name, "' already");
  return place->second;
}

} // namespace torch::fx
