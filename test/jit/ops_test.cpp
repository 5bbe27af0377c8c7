// TorchScript's own operators against recorded calls: test/jit/data/operator_calls.txt.
#include <catch2/catch.hpp>

#include <csrc/jit/runtime/operator.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace {

using c10::IValue;
using torch::jit::Stack;

c10::TypePtr type_of(const std::string& name) {
  if (name == "int") {
    return c10::IntType::get();
  }
  if (name == "float") {
    return c10::FloatType::get();
  }
  if (name == "bool") {
    return c10::BoolType::get();
  }
  if (name == "str") {
    return c10::StringType::get();
  }
  if (name == "complex") {
    return c10::ComplexType::get();
  }
  // "(int,str)": a tuple
  const size_t comma = name.find(',');
  REQUIRE(comma != std::string::npos);
  return c10::TupleType::create(
      {type_of(name.substr(1, comma - 1)), type_of(name.substr(comma + 1, name.size() - comma - 2))});
}

double double_of_hex(const std::string& hex) {
  const uint64_t bits = std::stoull(hex, nullptr, 16);
  double value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

std::string text_of_hex(const std::string& hex) {
  std::string text;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    text += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return text;
}

// One value: a letter for its type, then the value; numbers and texts in hexadecimal where digits would lose something.
IValue read_value(const std::string& token, std::istream& in) {
  const std::string rest = token.substr(1);
  const auto next = [&] {
    std::string word;
    REQUIRE(in >> word);
    return word;
  };
  switch (token[0]) {
    case 'n':
      return IValue();
    case 'i':
      return static_cast<int64_t>(std::stoll(rest));
    case 'b':
      return rest == "1";
    case 'f':
      return double_of_hex(rest);
    case 'c':
      return c10::complex<double>(double_of_hex(rest.substr(0, 16)), double_of_hex(rest.substr(16)));
    case 's':
      return text_of_hex(rest);
    case 'l': {
      c10::List<IValue> list(type_of(next()));
      for (int64_t left = std::stoll(next()); left > 0; --left) {
        list.push_back(read_value(next(), in));
      }
      return list;
    }
    case 'd': {
      const c10::TypePtr key_type = type_of(next());
      c10::Dict<IValue, IValue> dict(key_type, type_of(next()));
      for (int64_t left = std::stoll(next()); left > 0; --left) {
        IValue key = read_value(next(), in);
        dict.insert(std::move(key), read_value(next(), in));
      }
      return dict;
    }
    default: {
      std::vector<IValue> elements;
      for (int64_t left = std::stoll(next()); left > 0; --left) {
        elements.push_back(read_value(next(), in));
      }
      return c10::ivalue::Tuple::create(std::move(elements));
    }
  }
}

// Floats may differ in the last bits, which depend on the machine's mathematical library; NaN is as good as NaN.
bool same_number(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) {
    return std::isnan(a) && std::isnan(b);
  }
  return a == b || std::abs(a - b) <= 1e-14 * std::abs(a);
}

bool same(const IValue& a, const IValue& b) {
  const auto all_same = [](const auto& x, const auto& y) {
    if (x.size() != y.size()) {
      return false;
    }
    for (size_t i = 0; i < x.size(); ++i) {
      if (!same(x[i], y[i])) {
        return false;
      }
    }
    return true;
  };
  if (a.tag() != b.tag()) {
    return false;
  }
  if (a.isDouble()) {
    return same_number(a.toDouble(), b.toDouble());
  }
  if (a.isComplexDouble()) {
    const c10::complex<double> x = a.toComplexDouble();
    const c10::complex<double> y = b.toComplexDouble();
    return (same_number(x.real(), y.real()) && same_number(x.imag(), y.imag())) ||
        std::abs(x - y) <= 1e-14 * std::abs(x);
  }
  if (a.isList()) {
    return all_same(a.toListRef(), b.toListRef());
  }
  if (a.isTuple()) {
    return all_same(a.toTupleRef().elements(), b.toTupleRef().elements());
  }
  if (a.isGenericDict()) {
    std::vector<IValue> x;
    std::vector<IValue> y;
    for (const auto& entry : a.toGenericDict()) {
      x.push_back(entry.key());
      x.push_back(entry.value());
    }
    for (const auto& entry : b.toGenericDict()) {
      y.push_back(entry.key());
      y.push_back(entry.value());
    }
    return all_same(x, y);
  }
  return a == b;
}

torch::jit::Operation operation_named(const std::string& full_name) {
  const size_t dot = full_name.find('.');
  const std::string overload = dot == std::string::npos ? "" : full_name.substr(dot + 1);
  const torch::jit::OperatorPtr op = torch::jit::findOperatorFor({full_name.substr(0, dot), overload});
  REQUIRE(op);
  return op->getOperation();
}

// "ns::name.overload arguments = results and, for containers, the first argument after the call", or "! error".
void check_call(const std::string& line) {
  std::istringstream in(line);
  std::string name;
  std::string word;
  in >> name;
  Stack stack;
  while (in >> word && word != "=" && word != "!") {
    stack.push_back(read_value(word, in));
  }
  const IValue first = stack[0];
  const torch::jit::Operation operation = operation_named(name);
  if (word == "!") {
    std::string message;
    std::getline(in >> std::ws, message);
    try {
      operation(stack);
      FAIL_CHECK("no error of " << line);
    } catch (const c10::Error& error) {
      INFO("got: " << error.what_without_backtrace());
      CHECK(std::string(error.what_without_backtrace()).find(message) != std::string::npos);
    }
    return;
  }
  std::vector<IValue> expected;
  while (in >> word) {
    expected.push_back(read_value(word, in));
  }
  try {
    operation(stack);
  } catch (const c10::Error& error) {
    FAIL_CHECK(error.what_without_backtrace());
    return;
  }
  if (first.isList() || first.isGenericDict()) {
    stack.push_back(first);
  }
  REQUIRE(stack.size() == expected.size());
  for (size_t i = 0; i < stack.size(); ++i) {
    INFO("result " << i << ": " << stack[i] << ", expected " << expected[i]);
    CHECK(same(stack[i], expected[i]));
  }
}

} // namespace

TEST_CASE("Operators of numbers, strings and containers give what was recorded", "[jit]") {
  std::ifstream calls(std::string(TEST_JIT_DATA) + "/operator_calls.txt");
  REQUIRE(calls);
  size_t count = 0;
  for (std::string line; std::getline(calls, line); ++count) {
    INFO(line);
    check_call(line);
  }
  CHECK(count > 3000);
}
