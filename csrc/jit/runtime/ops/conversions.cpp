// Conversions between numbers, strings and tensors of one element.
#include <csrc/jit/runtime/ops/rows.h>

#include <aten/core/enum_type.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace torch::jit::ops {

namespace {

int64_t int_of_float(double value) {
  // Outside the range, what the processor's conversion gives.
  if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0)) {
    return std::numeric_limits<int64_t>::min();
  }
  return static_cast<int64_t>(value);
}
int64_t int_of_scalar(Scalar value) {
  return value.isFloatingPoint() ? int_of_float(value.toDouble()) : value.toLong();
}

template <class T>
T parsed(const std::string& text, T (*parse)(const std::string&, size_t*), const char* complaint, const char* name) {
  size_t used = 0;
  T value{};
  try {
    value = parse(text, &used);
  } catch (const std::logic_error&) {
    TORCH_CHECK_VALUE(false, name, ": ", complaint, "'", text, "'");
  }
  TORCH_CHECK_VALUE(used == text.size(), complaint, "'", text, "'");
  return value;
}
int64_t int_of_text(const std::string& text) {
  const auto parse = [](const std::string& from, size_t* used) -> int64_t { return std::stoll(from, used); };
  return parsed<int64_t>(text, parse, "invalid literal for int() with base 10: ", "stoll");
}
double float_of_text(const std::string& text) {
  const auto parse = [](const std::string& from, size_t* used) { return std::stod(from, used); };
  return parsed<double>(text, parse, "could not convert string to float: ", "stod");
}

// Conversions that a call makes by itself refuse what would lose information unseen.
void check_implicit(const Tensor& value, bool to_integer) {
  TORCH_CHECK(!value.requires_grad(), "Cannot input a tensor that requires grad as a scalar argument");
  TORCH_CHECK(value.dim() == 0, "Cannot input a tensor of dimension other than 0 as a scalar argument");
  TORCH_CHECK(
      !to_integer || c10::isIntegralType(value.scalar_type(), /*includeBool=*/false), "Cannot input a tensor of type ",
      value.scalar_type(), " as an integral argument");
}
int64_t implicit_int(const Tensor& value) {
  check_implicit(value, true);
  return value.item<int64_t>();
}
double implicit_float(const Tensor& value) {
  check_implicit(value, false);
  return value.item<double>();
}
Complex implicit_complex(const Tensor& value) {
  check_implicit(value, false);
  return value.item().toComplexDouble();
}
Scalar implicit_scalar(const Tensor& value) {
  check_implicit(value, false);
  return value.item();
}

Complex complex_of(double real, double imag) {
  return Complex(real, imag);
}
template <class A, class B>
Complex complex_of_parts(A real, B imag) {
  if constexpr (std::is_same_v<A, const Tensor&> && std::is_same_v<B, const Tensor&>) {
    // real + imag * 1j, as both may be complex.
    return real.item().toComplexDouble() + imag.item().toComplexDouble() * Complex(0, 1);
  } else {
    const auto number = [](const auto& part) {
      if constexpr (std::is_same_v<std::decay_t<decltype(part)>, Tensor>) {
        return part.template item<double>();
      } else {
        return static_cast<double>(part);
      }
    };
    return complex_of(number(real), number(imag));
  }
}

IValue value_of_enum(IValue& value) {
  return value.toEnumHolder()->value();
}

constexpr OperatorRow kRows[] = {
    {"aten::Int.Tensor(Tensor a) -> int", call<[](const Tensor& a) { return a.item<int64_t>(); }>},
    {"aten::Int.bool(bool a) -> int", call<[](bool a) { return static_cast<int64_t>(a); }>},
    {"aten::Int.float(float a) -> int", call<int_of_float>},
    {"aten::Int.Scalar(Scalar a) -> int", call<int_of_scalar>},
    {"aten::Int.str(str a) -> int", call<int_of_text>},
    {"aten::Float.Tensor(Tensor a) -> float", call<[](const Tensor& a) { return a.item<double>(); }>},
    {"aten::Float.Scalar(Scalar a) -> float", call<[](Scalar a) { return a.toDouble(); }>},
    {"aten::Float.int(int a) -> float", call<[](int64_t a) { return static_cast<double>(a); }>},
    {"aten::Float.bool(bool a) -> float", call<[](bool a) { return static_cast<double>(a); }>},
    {"aten::Float.str(str a) -> float", call<float_of_text>},
    {"aten::Bool.Tensor(Tensor a) -> bool", call<[](const Tensor& a) { return a.is_nonzero(); }>},
    {"aten::Bool.int(int a) -> bool", call<[](int64_t a) { return a != 0; }>},
    {"aten::Bool.float(float a) -> bool", call<[](double a) { return a != 0.0; }>},
    {"aten::Complex.Scalar(Scalar a) -> complex", call<[](Scalar a) { return a.toComplexDouble(); }>},
    {"aten::Complex.Tensor_Tensor(Tensor a, Tensor b) -> complex",
     call<complex_of_parts<const Tensor&, const Tensor&>>},
    {"aten::IntImplicit(Tensor a) -> int", call<implicit_int>},
    {"aten::FloatImplicit(Tensor a) -> float", call<implicit_float>},
    {"aten::ComplexImplicit(Tensor a) -> complex", call<implicit_complex>},
    {"aten::ScalarImplicit(Tensor a) -> Scalar", call<implicit_scalar>},
    {"prim::EnumName(AnyEnumType enum) -> str", call<[](IValue& value) { return value.toEnumHolder()->name(); }>},
    {"prim::EnumValue.int(AnyEnumType enum) -> int", call<value_of_enum>},
    {"prim::EnumValue.float(AnyEnumType enum) -> float", call<value_of_enum>},
    {"prim::EnumValue.str(AnyEnumType enum) -> str", call<value_of_enum>},
    {"aten::Complex.int_int(int x, int y) -> complex", call<complex_of_parts<int64_t, int64_t>>},
    {"aten::Complex.int_float(int x, float y) -> complex", call<complex_of_parts<int64_t, double>>},
    {"aten::Complex.int_bool(int x, bool y) -> complex", call<complex_of_parts<int64_t, bool>>},
    {"aten::Complex.int_Tensor(int x, Tensor y) -> complex", call<complex_of_parts<int64_t, const Tensor&>>},
    {"aten::Complex.float_int(float x, int y) -> complex", call<complex_of_parts<double, int64_t>>},
    {"aten::Complex.float_float(float x, float y) -> complex", call<complex_of_parts<double, double>>},
    {"aten::Complex.float_bool(float x, bool y) -> complex", call<complex_of_parts<double, bool>>},
    {"aten::Complex.float_Tensor(float x, Tensor y) -> complex", call<complex_of_parts<double, const Tensor&>>},
    {"aten::Complex.bool_int(bool x, int y) -> complex", call<complex_of_parts<bool, int64_t>>},
    {"aten::Complex.bool_float(bool x, float y) -> complex", call<complex_of_parts<bool, double>>},
    {"aten::Complex.bool_bool(bool x, bool y) -> complex", call<complex_of_parts<bool, bool>>},
    {"aten::Complex.bool_Tensor(bool x, Tensor y) -> complex", call<complex_of_parts<bool, const Tensor&>>},
    {"aten::Complex.Tensor_int(Tensor x, int y) -> complex", call<complex_of_parts<const Tensor&, int64_t>>},
    {"aten::Complex.Tensor_float(Tensor x, float y) -> complex", call<complex_of_parts<const Tensor&, double>>},
    {"aten::Complex.Tensor_bool(Tensor x, bool y) -> complex", call<complex_of_parts<const Tensor&, bool>>},
};

} // namespace

at::ArrayRef<OperatorRow> conversion_rows() {
  return kRows;
}

} // namespace torch::jit::ops
