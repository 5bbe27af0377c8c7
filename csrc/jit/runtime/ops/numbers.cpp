// Arithmetic of numbers.
#include <csrc/jit/runtime/ops/number_rules.h>
#include <csrc/jit/runtime/ops/rows.h>

#include <c10/util/complex_math.h>

#include <cmath>

namespace torch::jit::ops {

namespace {

// int64 arithmetic wraps.
int64_t wrapped_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t wrapped_sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t wrapped_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// Numbers of any type: int with int stays int, a complex one makes the result complex.
template <class Ints, class Floats, class Complexes>
IValue arithmetic(const Scalar& a, const Scalar& b, Ints ints, Floats floats, Complexes complexes) {
  if (a.isComplex() || b.isComplex()) {
    return complexes(a.toComplexDouble(), b.toComplexDouble());
  }
  if (a.isFloatingPoint() || b.isFloatingPoint()) {
    return floats(a.toDouble(), b.toDouble());
  }
  return ints(a.toLong(), b.toLong());
}

IValue add_scalars(Scalar a, Scalar b) {
  return arithmetic(a, b, wrapped_add, std::plus<double>(), std::plus<Complex>());
}
IValue sub_scalars(Scalar a, Scalar b) {
  return arithmetic(a, b, wrapped_sub, std::minus<double>(), std::minus<Complex>());
}
IValue mul_scalars(Scalar a, Scalar b) {
  return arithmetic(a, b, wrapped_mul, std::multiplies<double>(), std::multiplies<Complex>());
}
double div_scalars(Scalar a, Scalar b) {
  return a.toDouble() / b.toDouble();
}
Complex no_complex(Complex, Complex) {
  TORCH_CHECK(false, "unsupported operand type(s) for numbers: complex; use int or float");
}
IValue remainder_scalars(Scalar a, Scalar b) {
  return arithmetic(a, b, floor_remainder<int64_t>, floor_remainder<double>, no_complex);
}
IValue floordiv_scalars(Scalar a, Scalar b) {
  return arithmetic(a, b, floor_divide_ints, floor_divide_floats, no_complex);
}

int64_t shift_left(int64_t a, int64_t b) {
  // As the processor shifts: by the low six bits of the count.
  return static_cast<int64_t>(static_cast<uint64_t>(a) << (static_cast<uint64_t>(b) & 63));
}
int64_t shift_right(int64_t a, int64_t b) {
  return a >> (static_cast<uint64_t>(b) & 63);
}

std::tuple<int64_t, int64_t> divmod_ints(int64_t a, int64_t b) {
  TORCH_CHECK(b != 0, "ZeroDivisionError: integer division or modulo by zero");
  return {floor_divide_ints(a, b), floor_remainder<int64_t>(a, b)};
}
std::tuple<double, double> divmod_floats(double a, double b) {
  TORCH_CHECK(b != 0, "ZeroDivisionError: float divmod()");
  // Not what `//` and `%` give: an infinite divisor leaves a finite remainder.
  double rest = std::fmod(a, b);
  rest += rest != 0 && (rest < 0) != (b < 0) ? b : 0;
  return {(a - rest) / b, rest};
}

// An int and a float: libtorch has 32 bits for the float, and wants a quotient that is a number.
std::tuple<double, double> divmod_mixed(float a, float b) {
  TORCH_CHECK(b != 0, "ZeroDivisionError: float divmod()");
  const double quotient = std::floor(a / b);
  TORCH_CHECK(std::isfinite(quotient), "Cannot convert float ", quotient, " to integer");
  return {quotient, static_cast<double>(a) - quotient * static_cast<double>(b)};
}

IValue neg_scalar(Scalar a) {
  if (a.isComplex()) {
    return -a.toComplexDouble();
  }
  return a.isFloatingPoint() ? IValue(-a.toDouble()) : IValue(wrapped_sub(0, a.toLong()));
}
IValue abs_scalar(Scalar a) {
  if (a.isComplex()) {
    return std::abs(a.toComplexDouble());
  }
  return a.isFloatingPoint() ? IValue(std::abs(a.toDouble()))
                             : IValue(a.toLong() < 0 ? wrapped_sub(0, a.toLong()) : a.toLong());
}
int64_t divide_to_zero(int64_t a, int64_t b) {
  TORCH_CHECK(b != 0, "division by 0");
  return b == -1 ? wrapped_sub(0, a) : a / b;
}
int64_t range_length(int64_t lo, int64_t hi, int64_t step) {
  TORCH_CHECK(step != 0, "range() arg 3 must not be zero");
  const uint64_t low = static_cast<uint64_t>(lo);
  const uint64_t high = static_cast<uint64_t>(hi);
  if (step > 0 && lo < hi) {
    return static_cast<int64_t>(1 + (high - 1 - low) / static_cast<uint64_t>(step));
  }
  if (step < 0 && lo > hi) {
    return static_cast<int64_t>(1 + (low - 1 - high) / (0 - static_cast<uint64_t>(step)));
  }
  return 0;
}
int64_t derive_index(int64_t index, int64_t start, int64_t step) {
  return wrapped_add(start, wrapped_mul(index, step));
}

constexpr OperatorRow kRows[] = {
    {"aten::add.int(int a, int b) -> int", call<wrapped_add>},
    {"aten::add.float(float a, float b) -> float", call<[](double a, double b) { return a + b; }>},
    {"aten::add.int_float(int a, float b) -> float",
     call<[](int64_t a, double b) { return static_cast<double>(a) + b; }>},
    {"aten::add.float_int(float a, int b) -> float",
     call<[](double a, int64_t b) { return a + static_cast<double>(b); }>},
    {"aten::add.complex(complex a, complex b) -> complex", call<[](Complex a, Complex b) { return a + b; }>},
    {"aten::add.complex_int(complex a, int b) -> complex",
     call<[](Complex a, int64_t b) { return a + static_cast<double>(b); }>},
    {"aten::add.int_complex(int a, complex b) -> complex",
     call<[](int64_t a, Complex b) { return static_cast<double>(a) + b; }>},
    {"aten::add.complex_float(complex a, float b) -> complex", call<[](Complex a, double b) { return a + b; }>},
    {"aten::add.float_complex(float a, complex b) -> complex", call<[](double a, Complex b) { return a + b; }>},
    {"aten::add(Scalar a, Scalar b) -> Scalar", call<add_scalars>},
    {"aten::sub.int(int a, int b) -> int", call<wrapped_sub>},
    {"aten::sub.float(float a, float b) -> float", call<[](double a, double b) { return a - b; }>},
    {"aten::sub.int_float(int a, float b) -> float",
     call<[](int64_t a, double b) { return static_cast<double>(a) - b; }>},
    {"aten::sub.float_int(float a, int b) -> float",
     call<[](double a, int64_t b) { return a - static_cast<double>(b); }>},
    {"aten::sub.complex(complex a, complex b) -> complex", call<[](Complex a, Complex b) { return a - b; }>},
    {"aten::sub.complex_int(complex a, int b) -> complex",
     call<[](Complex a, int64_t b) { return a - static_cast<double>(b); }>},
    {"aten::sub.int_complex(int a, complex b) -> complex",
     call<[](int64_t a, Complex b) { return static_cast<double>(a) - b; }>},
    {"aten::sub.complex_float(complex a, float b) -> complex", call<[](Complex a, double b) { return a - b; }>},
    {"aten::sub.float_complex(float a, complex b) -> complex", call<[](double a, Complex b) { return a - b; }>},
    {"aten::sub(Scalar a, Scalar b) -> Scalar", call<sub_scalars>},
    {"aten::mul.int(int a, int b) -> int", call<wrapped_mul>},
    {"aten::mul.float(float a, float b) -> float", call<[](double a, double b) { return a * b; }>},
    {"aten::mul.int_float(int a, float b) -> float",
     call<[](int64_t a, double b) { return static_cast<double>(a) * b; }>},
    {"aten::mul.float_int(float a, int b) -> float",
     call<[](double a, int64_t b) { return a * static_cast<double>(b); }>},
    {"aten::mul.complex(complex a, complex b) -> complex", call<[](Complex a, Complex b) { return a * b; }>},
    {"aten::mul.complex_int(complex a, int b) -> complex",
     call<[](Complex a, int64_t b) { return a * Complex(static_cast<double>(b)); }>},
    {"aten::mul.int_complex(int a, complex b) -> complex",
     call<[](int64_t a, Complex b) { return Complex(static_cast<double>(a)) * b; }>},
    {"aten::mul.complex_float(complex a, float b) -> complex",
     call<[](Complex a, double b) { return a * Complex(b); }>},
    {"aten::mul.float_complex(float a, complex b) -> complex",
     call<[](double a, Complex b) { return Complex(a) * b; }>},
    {"aten::mul(Scalar a, Scalar b) -> Scalar", call<mul_scalars>},
    {"aten::div.int(int a, int b) -> float",
     call<[](int64_t a, int64_t b) { return static_cast<double>(a) / static_cast<double>(b); }>},
    {"aten::div.float(float a, float b) -> float", call<[](double a, double b) { return a / b; }>},
    {"aten::div.complex(complex a, complex b) -> complex", call<[](Complex a, Complex b) { return a / b; }>},
    {"aten::div(Scalar a, Scalar b) -> float", call<div_scalars>},
    {"aten::remainder.int(int a, int b) -> int", call<floor_remainder<int64_t>>},
    {"aten::remainder.float(float a, float b) -> float", call<floor_remainder<double>>},
    {"aten::remainder.int_float(int a, float b) -> float",
     call<[](int64_t a, double b) { return floor_remainder<double>(static_cast<double>(a), b); }>},
    {"aten::remainder.float_int(float a, int b) -> float",
     call<[](double a, int64_t b) { return floor_remainder<double>(a, static_cast<double>(b)); }>},
    {"aten::remainder(Scalar a, Scalar b) -> Scalar", call<remainder_scalars>},
    {"aten::floordiv.int(int a, int b) -> int", call<floor_divide_ints>},
    {"aten::floordiv.float(float a, float b) -> float", call<floor_divide_floats>},
    {"aten::floordiv.int_float(int a, float b) -> float",
     call<[](int64_t a, double b) { return floor_divide_floats(static_cast<double>(a), b); }>},
    {"aten::floordiv.float_int(float a, int b) -> float",
     call<[](double a, int64_t b) { return floor_divide_floats(a, static_cast<double>(b)); }>},
    {"aten::floordiv(Scalar a, Scalar b) -> Scalar", call<floordiv_scalars>},
    {"aten::__round_to_zero_floordiv.int(int a, int b) -> int", call<divide_to_zero>},
    {"aten::divmod.int(int x, int y) -> (int, int)", call<divmod_ints>},
    {"aten::divmod.float(float x, float y) -> (float, float)", call<divmod_floats>},
    {"aten::divmod.int_float(int x, float y) -> (float, float)",
     call<[](int64_t a, double b) { return divmod_mixed(static_cast<float>(a), static_cast<float>(b)); }>},
    {"aten::divmod.float_int(float x, int y) -> (float, float)",
     call<[](double a, int64_t b) { return divmod_mixed(static_cast<float>(a), static_cast<float>(b)); }>},
    {"aten::neg.int(int a) -> int", call<[](int64_t a) { return wrapped_sub(0, a); }>},
    {"aten::neg.float(float a) -> float", call<[](double a) { return -a; }>},
    {"aten::neg.complex(complex a) -> complex", call<[](Complex a) { return -a; }>},
    {"aten::neg.Scalar(Scalar a) -> Scalar", call<neg_scalar>},
    {"prim::abs.int(int a) -> int", call<[](int64_t a) { return a < 0 ? wrapped_sub(0, a) : a; }>},
    {"prim::abs.float(float a) -> float", call<[](double a) { return std::abs(a); }>},
    {"prim::abs.complex(complex a) -> float", call<[](Complex a) { return std::abs(a); }>},
    {"prim::abs.Scalar(Scalar a) -> Scalar", call<abs_scalar>},
    {"prim::abs(Tensor x) -> Tensor", call<[](const Tensor& x) { return x.abs(); }>},
    {"aten::__and__.int(int a, int b) -> int", call<[](int64_t a, int64_t b) { return a & b; }>},
    {"aten::__and__.bool(bool a, bool b) -> bool", call<[](bool a, bool b) { return a && b; }>},
    {"aten::__or__.int(int a, int b) -> int", call<[](int64_t a, int64_t b) { return a | b; }>},
    {"aten::__or__.bool(bool a, bool b) -> bool", call<[](bool a, bool b) { return a || b; }>},
    {"aten::__xor__.int(int a, int b) -> int", call<[](int64_t a, int64_t b) { return a ^ b; }>},
    {"aten::__xor__.bool(bool a, bool b) -> bool", call<[](bool a, bool b) { return a != b; }>},
    {"aten::__not__(bool self) -> bool", call<[](bool self) { return !self; }>},
    {"aten::__lshift__.int(int a, int b) -> int", call<shift_left>},
    {"aten::__rshift__.int(int a, int b) -> int", call<shift_right>},
    {"aten::__range_length(int lo, int hi, int step) -> int", call<range_length>},
    {"aten::__derive_index(int index, int start, int step) -> int", call<derive_index>},
};

} // namespace

at::ArrayRef<OperatorRow> number_rows() {
  return kRows;
}

} // namespace torch::jit::ops
