// c10::complex against std::complex.

#include <c10/util/StringUtil.h>
#include <c10/util/complex.h>

#include <catch2/catch.hpp>

#include <complex>
#include <limits>
#include <random>
#include <sstream>

namespace {

using c10::complex;

template <class T>
void check_close(const complex<T>& actual, const std::complex<T>& expected, T tolerance) {
  INFO("actual " << c10::str(actual) << ", expected " << expected);
  CHECK(std::abs(static_cast<std::complex<T>>(actual) - expected) <= tolerance * (T(1) + std::abs(expected)));
}

} // namespace

TEMPLATE_TEST_CASE("arithmetic of complex numbers follows std::complex", "[c10][complex]", float, double) {
  std::mt19937 engine(2);
  std::uniform_real_distribution<TestType> uniform(-4, 4);
  const TestType tolerance = 8 * std::numeric_limits<TestType>::epsilon();
  for (int i = 0; i < 500; ++i) {
    const std::complex<TestType> a(uniform(engine), uniform(engine)), b(uniform(engine), uniform(engine));
    const complex<TestType> x(a), y(b);
    check_close(x + y, a + b, tolerance);
    check_close(x - y, a - b, tolerance);
    check_close(x * y, a * b, tolerance);
    check_close(x / y, a / b, 10 * tolerance);
    check_close(x + b.real(), a + b.real(), tolerance);
    check_close(a.real() / y, a.real() / b, 10 * tolerance);
    check_close(-x, -a, tolerance);
    check_close(std::conj(x), std::conj(a), tolerance);
    CHECK(std::abs(x) == Approx(std::abs(a)));
    CHECK(std::arg(x) == Approx(std::arg(a)));
    CHECK(std::norm(x) == Approx(std::norm(a)));
  }
}

TEST_CASE("division scales and so does not overflow on the way", "[c10][complex]") {
  const complex<double> big(1e300, 1e300);
  const complex<double> quotient = big / big;
  CHECK(quotient.real() == Approx(1.0));
  CHECK(quotient.imag() == Approx(0.0).margin(1e-15));
  const complex<double> by_zero = complex<double>(1, 1) / complex<double>(0, 0);
  CHECK(std::isinf(by_zero.real()));
}

TEST_CASE("widening conversions are implicit, narrowing ones explicit", "[c10][complex]") {
  using c10::Half;
  STATIC_REQUIRE(std::is_convertible_v<complex<float>, complex<double>>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<complex<double>, complex<float>>);
  STATIC_REQUIRE(std::is_constructible_v<complex<float>, complex<double>>);
  STATIC_REQUIRE(std::is_convertible_v<complex<Half>, complex<float>>);
  STATIC_REQUIRE(sizeof(complex<Half>) == 4);
  STATIC_REQUIRE(alignof(complex<float>) == 8);
  STATIC_REQUIRE(alignof(complex<double>) == 16);
  const complex<Half> half(complex<float>(1.5f, -2.0f));
  CHECK(complex<float>(half * half) == complex<float>(-1.75f, -6.0f));
}

TEST_CASE("arithmetic is constexpr", "[c10][complex]") {
  using namespace c10::complex_literals;
  constexpr complex<double> i(0.0, 1.0);
  STATIC_REQUIRE(i * i == complex<double>(-1.0, 0.0));
  STATIC_REQUIRE((complex<double>(3.0, 4.0) / 2.0).imag() == 2.0);
  STATIC_REQUIRE(2.5_id == complex<double>(0.0, 2.5));
  STATIC_REQUIRE(3_if == complex<float>(0.0f, 3.0f));
  STATIC_REQUIRE(1 - i == complex<double>(1.0, -1.0));
}

// Host and device have different bodies; the device one is plain C++, so it is tested here too.
TEST_CASE("the device formulas of functions agree with the standard library", "[c10][complex]") {
  std::mt19937 engine(3);
  std::uniform_real_distribution<double> uniform(-3, 3);
  namespace device = c10_complex_math::device;
  for (int i = 0; i < 500; ++i) {
    const std::complex<double> a(uniform(engine), uniform(engine)), b(uniform(engine), uniform(engine));
    const complex<double> z(a), w(b);
    const double tolerance = 1e-12;
    check_close(device::exp(z), std::exp(a), tolerance);
    check_close(device::log(z), std::log(a), tolerance);
    check_close(device::sqrt(z), std::sqrt(a), tolerance);
    check_close(device::pow(z, w), std::pow(a, b), tolerance);
    check_close(device::sin(z), std::sin(a), tolerance);
    check_close(device::cos(z), std::cos(a), tolerance);
    check_close(device::tan(z), std::tan(a), tolerance);
    check_close(device::sinh(z), std::sinh(a), tolerance);
    check_close(device::cosh(z), std::cosh(a), tolerance);
    check_close(device::tanh(z), std::tanh(a), tolerance);
    check_close(device::asin(z), std::asin(a), tolerance);
    check_close(device::acos(z), std::acos(a), tolerance);
    check_close(device::atan(z), std::atan(a), tolerance);
    check_close(device::asinh(z), std::asinh(a), tolerance);
    check_close(device::acosh(z), std::acosh(a), tolerance);
    check_close(device::atanh(z), std::atanh(a), tolerance);
    check_close(std::log2(z), std::log(a) / std::log(2.0), tolerance);
    check_close(std::log10(z), std::log10(a), tolerance);
    check_close(std::log1p(z), std::log(1.0 + a), tolerance);
    check_close(std::expm1(z), std::exp(a) - 1.0, tolerance);
  }
  const complex<double> tiny(1e-18, 1e-18);
  CHECK(std::log1p(tiny).real() == Approx(1e-18));
  CHECK(std::expm1(tiny).imag() == Approx(1e-18));
}

TEMPLATE_TEST_CASE("complex numbers are read as pairs and as real numbers", "[c10][complex]", float, double) {
  std::istringstream text("(1.5,-2) (3) 4 none");
  complex<TestType> value;
  text >> value;
  CHECK(value == complex<TestType>(1.5, -2));
  text >> value;
  CHECK(value == complex<TestType>(3));
  text >> value;
  CHECK(value == complex<TestType>(4));
  text >> value;
  CHECK(text.fail());
}

TEST_CASE("complex numbers print as pairs", "[c10][complex]") {
  CHECK(c10::str(complex<float>(1.5f, -2.0f)) == "(1.5,-2)");
}
