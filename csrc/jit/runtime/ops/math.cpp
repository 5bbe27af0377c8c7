// Functions of Python's math and cmath.
#include <csrc/jit/runtime/ops/number_rules.h>
#include <csrc/jit/runtime/ops/rows.h>

#include <c10/util/complex_math.h>

#include <cmath>
#include <numeric>

namespace torch::jit::ops {

namespace {

constexpr double kPi = 3.14159265358979323846;

int64_t to_integer(double value) {
  // 2^63 is the first that an int64 does not hold.
  TORCH_CHECK(
      value >= -9223372036854775808.0 && value < 9223372036854775808.0, "Cannot convert float ", std::to_string(value),
      " to integer");
  return static_cast<int64_t>(value);
}

// A number of any type through a function of floats.
template <double (*kFunction)(double)>
IValue of_scalar(Scalar a) {
  TORCH_CHECK(!a.isComplex(), "the function is not defined for complex numbers; use an int or a float");
  return kFunction(a.toDouble());
}
template <double (*kFunction)(double), Complex (*kComplex)(const Complex&)>
IValue of_any_scalar(Scalar a) {
  return a.isComplex() ? IValue(kComplex(a.toComplexDouble())) : IValue(kFunction(a.toDouble()));
}
template <double (*kFunction)(double)>
double of_int(int64_t a) {
  return kFunction(static_cast<double>(a));
}

double erf_of(double a) {
  return std::erf(a);
}
double erfc_of(double a) {
  return std::erfc(a);
}
double expm1_of(double a) {
  return std::expm1(a);
}
double log1p_of(double a) {
  return std::log1p(a);
}
double fabs_of(double a) {
  return std::fabs(a);
}
double gamma_of(double a) {
  return std::tgamma(a);
}
double lgamma_of(double a) {
  return std::lgamma(a);
}
double degrees_of(double a) {
  return a * (180.0 / kPi);
}
double radians_of(double a) {
  return a * (kPi / 180.0);
}
double sin_of(double a) {
  return std::sin(a);
}
Complex complex_sin_of(const Complex& a) {
  return std::sin(a);
}
double cos_of(double a) {
  return std::cos(a);
}
Complex complex_cos_of(const Complex& a) {
  return std::cos(a);
}
double tan_of(double a) {
  return std::tan(a);
}
Complex complex_tan_of(const Complex& a) {
  return std::tan(a);
}
double asin_of(double a) {
  return std::asin(a);
}
Complex complex_asin_of(const Complex& a) {
  return std::asin(a);
}
double acos_of(double a) {
  return std::acos(a);
}
Complex complex_acos_of(const Complex& a) {
  return std::acos(a);
}
double atan_of(double a) {
  return std::atan(a);
}
Complex complex_atan_of(const Complex& a) {
  return std::atan(a);
}
double sinh_of(double a) {
  return std::sinh(a);
}
Complex complex_sinh_of(const Complex& a) {
  return std::sinh(a);
}
double cosh_of(double a) {
  return std::cosh(a);
}
Complex complex_cosh_of(const Complex& a) {
  return std::cosh(a);
}
double tanh_of(double a) {
  return std::tanh(a);
}
Complex complex_tanh_of(const Complex& a) {
  return std::tanh(a);
}
double asinh_of(double a) {
  return std::asinh(a);
}
Complex complex_asinh_of(const Complex& a) {
  return std::asinh(a);
}
double acosh_of(double a) {
  return std::acosh(a);
}
Complex complex_acosh_of(const Complex& a) {
  return std::acosh(a);
}
double atanh_of(double a) {
  return std::atanh(a);
}
Complex complex_atanh_of(const Complex& a) {
  return std::atanh(a);
}
double exp_of(double a) {
  return std::exp(a);
}
Complex complex_exp_of(const Complex& a) {
  return std::exp(a);
}
double sqrt_of(double a) {
  return std::sqrt(a);
}
Complex complex_sqrt_of(const Complex& a) {
  return std::sqrt(a);
}
double log_of(double a) {
  return std::log(a);
}
Complex complex_log_of(const Complex& a) {
  return std::log(a);
}
double log10_of(double a) {
  return std::log10(a);
}
Complex complex_log10_of(const Complex& a) {
  return std::log10(a);
}

IValue floor_scalar(Scalar a) {
  return a.isFloatingPoint() ? to_integer(std::floor(a.toDouble())) : a.toLong();
}
IValue ceil_scalar(Scalar a) {
  return a.isFloatingPoint() ? to_integer(std::ceil(a.toDouble())) : a.toLong();
}
double round_half_even(double a) {
  // Exact where a halfway case would be rounded away from zero.
  const double rounded = std::round(a);
  return std::abs(a - rounded) == 0.5 ? 2.0 * std::round(a / 2.0) : rounded;
}
double angle_of(double a) {
  return std::isnan(a) ? a : (a < 0 ? kPi : 0.0);
}
IValue angle_scalar(Scalar a) {
  return a.isComplex() ? std::arg(a.toComplexDouble()) : angle_of(a.toDouble());
}

double pow_ints(int64_t a, int64_t b) {
  TORCH_CHECK(!(a == 0 && b < 0), "0.0 cannot be raised to a negative power");
  return std::pow(static_cast<double>(a), static_cast<double>(b));
}
double pow_floats(double a, double b) {
  TORCH_CHECK(!(a == 0 && b < 0), "0.0 cannot be raised to a negative power");
  return std::pow(a, b);
}
int64_t pow_int_to_int(int64_t a, int64_t b) {
  return static_cast<int64_t>(std::pow(static_cast<double>(a), static_cast<double>(b)));
}
IValue pow_scalars(Scalar a, Scalar b) {
  if (a.isComplex() || b.isComplex()) {
    return std::pow(a.toComplexDouble(), b.toComplexDouble());
  }
  return pow_floats(a.toDouble(), b.toDouble());
}
double log_base(double a, double b) {
  return std::log(a) / std::log(b);
}
Complex complex_log_base(Complex a, Complex b) {
  return std::log(a) / std::log(b);
}
IValue log_scalars(Scalar a, Scalar b) {
  if (a.isComplex() || b.isComplex()) {
    return complex_log_base(a.toComplexDouble(), b.toComplexDouble());
  }
  return log_base(a.toDouble(), b.toDouble());
}
Complex polar_of(double a, double b) {
  return Complex(a * std::cos(b), a * std::sin(b));
}
double fmod_of(double a, double b) {
  return std::fmod(a, b);
}
double mathremainder_of(double a, double b) {
  return std::remainder(a, b);
}
double atan2_of(double a, double b) {
  return std::atan2(a, b);
}
double copysign_of(double a, double b) {
  return std::copysign(a, b);
}

std::tuple<double, int64_t> split_exponent(double a) {
  int exponent = 0;
  const double mantissa = std::frexp(a, &exponent);
  return {mantissa, exponent};
}
std::tuple<double, double> split_fraction(double a) {
  double whole = 0;
  const double fraction = std::modf(a, &whole);
  return {fraction, whole};
}
double scale_exponent(double a, int64_t exponent) {
  // Beyond these, every float is zero or infinity.
  return std::ldexp(a, static_cast<int>(std::min<int64_t>(std::max<int64_t>(exponent, -5000), 5000)));
}
int64_t factorial(int64_t n) {
  TORCH_CHECK(n >= 0, "factorial() not defined for negative values");
  // Wraps; from 66 on the product has 64 factors of two.
  uint64_t product = n >= 66 ? 0 : 1;
  for (int64_t i = 2; i <= n && product != 0; ++i) {
    product *= static_cast<uint64_t>(i);
  }
  return static_cast<int64_t>(product);
}
int64_t greatest_common_divisor(int64_t a, int64_t b) {
  const auto magnitude = [](int64_t x) { return x < 0 ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x); };
  return static_cast<int64_t>(std::gcd(magnitude(a), magnitude(b)));
}

constexpr OperatorRow kRows[] = {
    {"aten::erf.int(int a) -> float", call<of_int<erf_of>>},
    {"aten::erf.float(float a) -> float", call<erf_of>},
    {"aten::erf.Scalar(Scalar a) -> Scalar", call<of_scalar<erf_of>>},
    {"aten::erfc.int(int a) -> float", call<of_int<erfc_of>>},
    {"aten::erfc.float(float a) -> float", call<erfc_of>},
    {"aten::erfc.Scalar(Scalar a) -> Scalar", call<of_scalar<erfc_of>>},
    {"aten::expm1.int(int a) -> float", call<of_int<expm1_of>>},
    {"aten::expm1.float(float a) -> float", call<expm1_of>},
    {"aten::expm1.Scalar(Scalar a) -> Scalar", call<of_scalar<expm1_of>>},
    {"aten::log1p.int(int a) -> float", call<of_int<log1p_of>>},
    {"aten::log1p.float(float a) -> float", call<log1p_of>},
    {"aten::log1p.Scalar(Scalar a) -> Scalar", call<of_scalar<log1p_of>>},
    {"aten::fabs.int(int a) -> float", call<of_int<fabs_of>>},
    {"aten::fabs.float(float a) -> float", call<fabs_of>},
    {"aten::fabs.Scalar(Scalar a) -> Scalar", call<of_scalar<fabs_of>>},
    {"aten::gamma.int(int a) -> float", call<of_int<gamma_of>>},
    {"aten::gamma.float(float a) -> float", call<gamma_of>},
    {"aten::gamma.Scalar(Scalar a) -> Scalar", call<of_scalar<gamma_of>>},
    {"aten::lgamma.int(int a) -> float", call<of_int<lgamma_of>>},
    {"aten::lgamma.float(float a) -> float", call<lgamma_of>},
    {"aten::lgamma.Scalar(Scalar a) -> Scalar", call<of_scalar<lgamma_of>>},
    {"aten::degrees.int(int a) -> float", call<of_int<degrees_of>>},
    {"aten::degrees.float(float a) -> float", call<degrees_of>},
    {"aten::degrees.Scalar(Scalar a) -> Scalar", call<of_scalar<degrees_of>>},
    {"aten::radians.int(int a) -> float", call<of_int<radians_of>>},
    {"aten::radians.float(float a) -> float", call<radians_of>},
    {"aten::radians.Scalar(Scalar a) -> Scalar", call<of_scalar<radians_of>>},
    {"aten::sin.int(int a) -> float", call<of_int<sin_of>>},
    {"aten::sin.float(float a) -> float", call<sin_of>},
    {"aten::sin.complex(complex a) -> complex", call<[](Complex a) { return complex_sin_of(a); }>},
    {"aten::sin.Scalar(Scalar a) -> Scalar", call<of_any_scalar<sin_of, complex_sin_of>>},
    {"aten::cos.int(int a) -> float", call<of_int<cos_of>>},
    {"aten::cos.float(float a) -> float", call<cos_of>},
    {"aten::cos.complex(complex a) -> complex", call<[](Complex a) { return complex_cos_of(a); }>},
    {"aten::cos.Scalar(Scalar a) -> Scalar", call<of_any_scalar<cos_of, complex_cos_of>>},
    {"aten::tan.int(int a) -> float", call<of_int<tan_of>>},
    {"aten::tan.float(float a) -> float", call<tan_of>},
    {"aten::tan.complex(complex a) -> complex", call<[](Complex a) { return complex_tan_of(a); }>},
    {"aten::tan.Scalar(Scalar a) -> Scalar", call<of_any_scalar<tan_of, complex_tan_of>>},
    {"aten::asin.int(int a) -> float", call<of_int<asin_of>>},
    {"aten::asin.float(float a) -> float", call<asin_of>},
    {"aten::asin.complex(complex a) -> complex", call<[](Complex a) { return complex_asin_of(a); }>},
    {"aten::asin.Scalar(Scalar a) -> Scalar", call<of_any_scalar<asin_of, complex_asin_of>>},
    {"aten::acos.int(int a) -> float", call<of_int<acos_of>>},
    {"aten::acos.float(float a) -> float", call<acos_of>},
    {"aten::acos.complex(complex a) -> complex", call<[](Complex a) { return complex_acos_of(a); }>},
    {"aten::acos.Scalar(Scalar a) -> Scalar", call<of_any_scalar<acos_of, complex_acos_of>>},
    {"aten::atan.int(int a) -> float", call<of_int<atan_of>>},
    {"aten::atan.float(float a) -> float", call<atan_of>},
    {"aten::atan.complex(complex a) -> complex", call<[](Complex a) { return complex_atan_of(a); }>},
    {"aten::atan.Scalar(Scalar a) -> Scalar", call<of_any_scalar<atan_of, complex_atan_of>>},
    {"aten::sinh.int(int a) -> float", call<of_int<sinh_of>>},
    {"aten::sinh.float(float a) -> float", call<sinh_of>},
    {"aten::sinh.complex(complex a) -> complex", call<[](Complex a) { return complex_sinh_of(a); }>},
    {"aten::sinh.Scalar(Scalar a) -> Scalar", call<of_any_scalar<sinh_of, complex_sinh_of>>},
    {"aten::cosh.int(int a) -> float", call<of_int<cosh_of>>},
    {"aten::cosh.float(float a) -> float", call<cosh_of>},
    {"aten::cosh.complex(complex a) -> complex", call<[](Complex a) { return complex_cosh_of(a); }>},
    {"aten::cosh.Scalar(Scalar a) -> Scalar", call<of_any_scalar<cosh_of, complex_cosh_of>>},
    {"aten::tanh.int(int a) -> float", call<of_int<tanh_of>>},
    {"aten::tanh.float(float a) -> float", call<tanh_of>},
    {"aten::tanh.complex(complex a) -> complex", call<[](Complex a) { return complex_tanh_of(a); }>},
    {"aten::tanh.Scalar(Scalar a) -> Scalar", call<of_any_scalar<tanh_of, complex_tanh_of>>},
    {"aten::asinh.int(int a) -> float", call<of_int<asinh_of>>},
    {"aten::asinh.float(float a) -> float", call<asinh_of>},
    {"aten::asinh.complex(complex a) -> complex", call<[](Complex a) { return complex_asinh_of(a); }>},
    {"aten::asinh.Scalar(Scalar a) -> Scalar", call<of_any_scalar<asinh_of, complex_asinh_of>>},
    {"aten::acosh.int(int a) -> float", call<of_int<acosh_of>>},
    {"aten::acosh.float(float a) -> float", call<acosh_of>},
    {"aten::acosh.complex(complex a) -> complex", call<[](Complex a) { return complex_acosh_of(a); }>},
    {"aten::acosh.Scalar(Scalar a) -> Scalar", call<of_any_scalar<acosh_of, complex_acosh_of>>},
    {"aten::atanh.int(int a) -> float", call<of_int<atanh_of>>},
    {"aten::atanh.float(float a) -> float", call<atanh_of>},
    {"aten::atanh.complex(complex a) -> complex", call<[](Complex a) { return complex_atanh_of(a); }>},
    {"aten::atanh.Scalar(Scalar a) -> Scalar", call<of_any_scalar<atanh_of, complex_atanh_of>>},
    {"aten::exp.int(int a) -> float", call<of_int<exp_of>>},
    {"aten::exp.float(float a) -> float", call<exp_of>},
    {"aten::exp.complex(complex a) -> complex", call<[](Complex a) { return complex_exp_of(a); }>},
    {"aten::exp.Scalar(Scalar a) -> Scalar", call<of_any_scalar<exp_of, complex_exp_of>>},
    {"aten::sqrt.int(int a) -> float", call<of_int<sqrt_of>>},
    {"aten::sqrt.float(float a) -> float", call<sqrt_of>},
    {"aten::sqrt.complex(complex a) -> complex", call<[](Complex a) { return complex_sqrt_of(a); }>},
    {"aten::sqrt.Scalar(Scalar a) -> Scalar", call<of_any_scalar<sqrt_of, complex_sqrt_of>>},
    {"aten::log.int(int a) -> float", call<of_int<log_of>>},
    {"aten::log.float(float a) -> float", call<log_of>},
    {"aten::log.complex(complex a) -> complex", call<[](Complex a) { return complex_log_of(a); }>},
    {"aten::log.Scalar(Scalar a) -> Scalar", call<of_any_scalar<log_of, complex_log_of>>},
    {"aten::log10.int(int a) -> float", call<of_int<log10_of>>},
    {"aten::log10.float(float a) -> float", call<log10_of>},
    {"aten::log10.complex(complex a) -> complex", call<[](Complex a) { return complex_log10_of(a); }>},
    {"aten::log10.Scalar(Scalar a) -> Scalar", call<of_any_scalar<log10_of, complex_log10_of>>},
    {"aten::angle.int(int a) -> float", call<of_int<angle_of>>},
    {"aten::angle.float(float a) -> float", call<angle_of>},
    {"aten::angle.complex(complex a) -> float", call<[](Complex a) { return std::arg(a); }>},
    {"aten::angle.Scalar(Scalar a) -> Scalar", call<angle_scalar>},
    {"aten::floor.int(int a) -> int", call<[](int64_t a) { return a; }>},
    {"aten::floor.float(float a) -> int", call<[](double a) { return to_integer(std::floor(a)); }>},
    {"aten::floor.Scalar(Scalar a) -> Scalar", call<floor_scalar>},
    {"aten::ceil.int(int a) -> int", call<[](int64_t a) { return a; }>},
    {"aten::ceil.float(float a) -> int", call<[](double a) { return to_integer(std::ceil(a)); }>},
    {"aten::ceil.Scalar(Scalar a) -> Scalar", call<ceil_scalar>},
    {"aten::round.int(int a) -> float", call<[](int64_t a) { return static_cast<double>(a); }>},
    {"aten::round.float(float a) -> float", call<round_half_even>},
    {"aten::round.Scalar(Scalar a) -> Scalar", call<of_scalar<round_half_even>>},
    {"aten::fmod.int(int a, int b) -> float",
     call<[](int64_t a, int64_t b) { return fmod_of(static_cast<double>(a), static_cast<double>(b)); }>},
    {"aten::fmod.float(float a, float b) -> float", call<fmod_of>},
    {"aten::fmod.int_float(int a, float b) -> float",
     call<[](int64_t a, double b) { return fmod_of(static_cast<double>(a), b); }>},
    {"aten::fmod.float_int(float a, int b) -> float",
     call<[](double a, int64_t b) { return fmod_of(a, static_cast<double>(b)); }>},
    {"aten::fmod(Scalar a, Scalar b) -> float",
     call<[](Scalar a, Scalar b) { return fmod_of(a.toDouble(), b.toDouble()); }>},
    {"aten::mathremainder.int(int a, int b) -> float",
     call<[](int64_t a, int64_t b) { return mathremainder_of(static_cast<double>(a), static_cast<double>(b)); }>},
    {"aten::mathremainder.float(float a, float b) -> float", call<mathremainder_of>},
    {"aten::mathremainder.int_float(int a, float b) -> float",
     call<[](int64_t a, double b) { return mathremainder_of(static_cast<double>(a), b); }>},
    {"aten::mathremainder.float_int(float a, int b) -> float",
     call<[](double a, int64_t b) { return mathremainder_of(a, static_cast<double>(b)); }>},
    {"aten::mathremainder(Scalar a, Scalar b) -> float",
     call<[](Scalar a, Scalar b) { return mathremainder_of(a.toDouble(), b.toDouble()); }>},
    {"aten::copysign.int(int a, int b) -> float",
     call<[](int64_t a, int64_t b) { return copysign_of(static_cast<double>(a), static_cast<double>(b)); }>},
    {"aten::copysign.float(float a, float b) -> float", call<copysign_of>},
    {"aten::copysign.int_float(int a, float b) -> float",
     call<[](int64_t a, double b) { return copysign_of(static_cast<double>(a), b); }>},
    {"aten::copysign.float_int(float a, int b) -> float",
     call<[](double a, int64_t b) { return copysign_of(a, static_cast<double>(b)); }>},
    {"aten::copysign(Scalar a, Scalar b) -> float",
     call<[](Scalar a, Scalar b) { return copysign_of(a.toDouble(), b.toDouble()); }>},
    {"aten::atan2.int(int a, int b) -> float",
     call<[](int64_t a, int64_t b) { return atan2_of(static_cast<double>(a), static_cast<double>(b)); }>},
    {"aten::atan2.float(float a, float b) -> float", call<atan2_of>},
    {"aten::atan2.int_float(int a, float b) -> float",
     call<[](int64_t a, double b) { return atan2_of(static_cast<double>(a), b); }>},
    {"aten::atan2.float_int(float a, int b) -> float",
     call<[](double a, int64_t b) { return atan2_of(a, static_cast<double>(b)); }>},
    {"aten::atan2.Scalar_Scalar(Scalar a, Scalar b) -> float",
     call<[](Scalar a, Scalar b) { return atan2_of(a.toDouble(), b.toDouble()); }>},
    {"aten::polar.int(int a, int b) -> complex",
     call<[](int64_t a, int64_t b) { return polar_of(static_cast<double>(a), static_cast<double>(b)); }>},
    {"aten::polar.float(float a, float b) -> complex", call<polar_of>},
    {"aten::polar.int_float(int a, float b) -> complex",
     call<[](int64_t a, double b) { return polar_of(static_cast<double>(a), b); }>},
    {"aten::polar.float_int(float a, int b) -> complex",
     call<[](double a, int64_t b) { return polar_of(a, static_cast<double>(b)); }>},
    {"aten::polar.Scalar_Scalar(Scalar a, Scalar b) -> Scalar",
     call<[](Scalar a, Scalar b) { return polar_of(a.toDouble(), b.toDouble()); }>},
    {"aten::pow.int(int a, int b) -> float", call<pow_ints>},
    {"aten::pow.float(float a, float b) -> float", call<pow_floats>},
    {"aten::pow.int_float(int a, float b) -> float",
     call<[](int64_t a, double b) { return pow_floats(static_cast<double>(a), b); }>},
    {"aten::pow.float_int(float a, int b) -> float",
     call<[](double a, int64_t b) { return pow_floats(a, static_cast<double>(b)); }>},
    {"aten::pow.complex(complex a, complex b) -> complex", call<[](Complex a, Complex b) { return std::pow(a, b); }>},
    {"aten::pow.complex_float(complex a, float b) -> complex",
     call<[](Complex a, double b) { return std::pow(a, b); }>},
    {"aten::pow.float_complex(float a, complex b) -> complex",
     call<[](double a, Complex b) { return std::pow(a, b); }>},
    {"aten::pow.Scalar_Scalar(Scalar a, Scalar b) -> float", call<pow_scalars>},
    {"aten::pow.int_to_int(int a, int b) -> int", call<pow_int_to_int>},
    {"aten::log.int_int(int a, int b) -> float",
     call<[](int64_t a, int64_t b) { return log_base(static_cast<double>(a), static_cast<double>(b)); }>},
    {"aten::log.int_float(int a, float b) -> float",
     call<[](int64_t a, double b) { return log_base(static_cast<double>(a), static_cast<double>(b)); }>},
    {"aten::log.int_complex(int a, complex b) -> complex",
     call<[](int64_t a, Complex b) { return complex_log_base(Complex(static_cast<double>(a)), b); }>},
    {"aten::log.float_int(float a, int b) -> float",
     call<[](double a, int64_t b) { return log_base(static_cast<double>(a), static_cast<double>(b)); }>},
    {"aten::log.float_float(float a, float b) -> float",
     call<[](double a, double b) { return log_base(static_cast<double>(a), static_cast<double>(b)); }>},
    {"aten::log.float_complex(float a, complex b) -> complex",
     call<[](double a, Complex b) { return complex_log_base(Complex(static_cast<double>(a)), b); }>},
    {"aten::log.complex_int(complex a, int b) -> complex",
     call<[](Complex a, int64_t b) { return complex_log_base(a, Complex(static_cast<double>(b))); }>},
    {"aten::log.complex_float(complex a, float b) -> complex",
     call<[](Complex a, double b) { return complex_log_base(a, Complex(static_cast<double>(b))); }>},
    {"aten::log.complex_complex(complex a, complex b) -> complex",
     call<[](Complex a, Complex b) { return complex_log_base(a, b); }>},
    {"aten::log.Scalar_Scalar(Scalar a, Scalar b) -> float", call<log_scalars>},
    {"aten::isnan.float(float a) -> bool", call<[](double a) { return std::isnan(a); }>},
    {"aten::isnan.complex(complex a) -> bool",
     call<[](Complex a) { return std::isnan(a.real()) || std::isnan(a.imag()); }>},
    {"aten::isinf.float(float a) -> bool", call<[](double a) { return std::isinf(a); }>},
    {"aten::isinf.complex(complex a) -> bool",
     call<[](Complex a) { return std::isinf(a.real()) || std::isinf(a.imag()); }>},
    {"aten::isfinite.float(float a) -> bool", call<[](double a) { return std::isfinite(a); }>},
    {"aten::isfinite.complex(complex a) -> bool",
     call<[](Complex a) { return std::isfinite(a.real()) && std::isfinite(a.imag()); }>},
    {"aten::frexp(float a) -> (float, int)", call<split_exponent>},
    {"aten::modf(float a) -> (float, float)", call<split_fraction>},
    {"aten::ldexp(float x, int i) -> float", call<scale_exponent>},
    {"aten::factorial.int(int a) -> int", call<factorial>},
    {"aten::gcd.int(int a, int b) -> int", call<greatest_common_divisor>},
};

} // namespace

at::ArrayRef<OperatorRow> math_rows() {
  return kRows;
}

} // namespace torch::jit::ops
