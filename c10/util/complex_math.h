#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/complex_type.h>

#include <cmath>
#include <complex>

// Functions of complex numbers. The host uses those of std::complex; device code has no std::complex, so it gets the
// textbook formulas, arranged so that large arguments do not overflow on the way.

namespace c10_complex_math {

namespace device {

template <typename T>
C10_HOST_DEVICE inline c10::complex<T> times_i(const c10::complex<T>& z) {
  return c10::complex<T>(-z.imag(), z.real());
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> times_minus_i(const c10::complex<T>& z) {
  return c10::complex<T>(z.imag(), -z.real());
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> exp(const c10::complex<T>& z) {
  if (z.imag() == T(0)) {
    return c10::complex<T>(::exp(z.real()), z.imag());
  }
  const T r = ::exp(z.real());
  return c10::complex<T>(r * ::cos(z.imag()), r * ::sin(z.imag()));
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> log(const c10::complex<T>& z) {
  return c10::complex<T>(::log(::hypot(z.real(), z.imag())), ::atan2(z.imag(), z.real()));
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> sqrt(const c10::complex<T>& z) {
  const T x = z.real(), y = z.imag();
  if (x == T(0) && y == T(0)) {
    return c10::complex<T>(T(0), y);
  }
  if (y - y != T(0)) { // infinite
    return c10::complex<T>(::fabs(y), y);
  }
  const T t = ::sqrt(::hypot(x, y) / T(2) + ::fabs(x) / T(2));
  if (x >= T(0)) {
    return c10::complex<T>(t, y / (T(2) * t));
  }
  return c10::complex<T>(::fabs(y) / (T(2) * t), ::copysign(t, y));
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> pow(const c10::complex<T>& x, const c10::complex<T>& y) {
  if (y == c10::complex<T>(T(0))) {
    return c10::complex<T>(T(1));
  }
  if (x == c10::complex<T>(T(0))) {
    return c10::complex<T>(T(0));
  }
  return device::exp(y * device::log(x));
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> sinh(const c10::complex<T>& z) {
  return c10::complex<T>(::sinh(z.real()) * ::cos(z.imag()), ::cosh(z.real()) * ::sin(z.imag()));
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> cosh(const c10::complex<T>& z) {
  return c10::complex<T>(::cosh(z.real()) * ::cos(z.imag()), ::sinh(z.real()) * ::sin(z.imag()));
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> tanh(const c10::complex<T>& z) {
  // Kahan: with t = tan y, s = sinh x, the quotient needs no exp(2x).
  const T x = z.real(), y = z.imag();
  if (::fabs(x) > (sizeof(T) == 4 ? T(11) : T(22))) {
    const T e = ::exp(-::fabs(x));
    return c10::complex<T>(::copysign(T(1), x), T(4) * ::sin(y) * ::cos(y) * e * e);
  }
  const T t = ::tan(y), s = ::sinh(x);
  const T beta = T(1) + t * t, rho = ::sqrt(T(1) + s * s);
  const T denominator = T(1) + beta * s * s;
  return c10::complex<T>(beta * rho * s / denominator, t / denominator);
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> asinh(const c10::complex<T>& z) {
  // Odd function: work where cancellation does not happen.
  const bool negative = z.real() < T(0);
  const c10::complex<T> w = negative ? -z : z;
  const c10::complex<T> r = device::log(w + device::sqrt(w * w + c10::complex<T>(T(1))));
  return negative ? -r : r;
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> acosh(const c10::complex<T>& z) {
  const c10::complex<T> one(T(1));
  return device::log(z + device::sqrt(z + one) * device::sqrt(z - one));
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> atanh(const c10::complex<T>& z) {
  const T x = z.real(), y = z.imag();
  const T up = (T(1) + x) * (T(1) + x) + y * y, down = (T(1) - x) * (T(1) - x) + y * y;
  return c10::complex<T>(
      T(0.25) * (::log(up) - ::log(down)), T(0.5) * ::atan2(T(2) * y, (T(1) - x) * (T(1) + x) - y * y));
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> sin(const c10::complex<T>& z) {
  return times_minus_i(device::sinh(times_i(z)));
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> cos(const c10::complex<T>& z) {
  return device::cosh(times_i(z));
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> tan(const c10::complex<T>& z) {
  return times_minus_i(device::tanh(times_i(z)));
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> asin(const c10::complex<T>& z) {
  return times_minus_i(device::asinh(times_i(z)));
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> acos(const c10::complex<T>& z) {
  const c10::complex<T> a = device::asin(z);
  return c10::complex<T>(T(1.57079632679489661923) - a.real(), -a.imag());
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> atan(const c10::complex<T>& z) {
  return times_minus_i(device::atanh(times_i(z)));
}

} // namespace device

#if defined(__CUDA_ARCH__)
#define C10_COMPLEX_FUNCTION_(name)                                       \
  template <typename T>                                                   \
  C10_HOST_DEVICE inline c10::complex<T> name(const c10::complex<T>& z) { \
    return device::name(z);                                               \
  }
#else
#define C10_COMPLEX_FUNCTION_(name)                                                  \
  template <typename T>                                                              \
  C10_HOST_DEVICE inline c10::complex<T> name(const c10::complex<T>& z) {            \
    return static_cast<c10::complex<T>>(std::name(static_cast<std::complex<T>>(z))); \
  }
#endif

C10_COMPLEX_FUNCTION_(exp)
C10_COMPLEX_FUNCTION_(log)
C10_COMPLEX_FUNCTION_(sqrt)
C10_COMPLEX_FUNCTION_(sin)
C10_COMPLEX_FUNCTION_(cos)
C10_COMPLEX_FUNCTION_(tan)
C10_COMPLEX_FUNCTION_(asin)
C10_COMPLEX_FUNCTION_(acos)
C10_COMPLEX_FUNCTION_(atan)
C10_COMPLEX_FUNCTION_(sinh)
C10_COMPLEX_FUNCTION_(cosh)
C10_COMPLEX_FUNCTION_(tanh)
C10_COMPLEX_FUNCTION_(asinh)
C10_COMPLEX_FUNCTION_(acosh)
C10_COMPLEX_FUNCTION_(atanh)
#undef C10_COMPLEX_FUNCTION_

template <typename T>
C10_HOST_DEVICE inline c10::complex<T> log10(const c10::complex<T>& z) {
  return c10_complex_math::log(z) * T(0.43429448190325182765);
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> log2(const c10::complex<T>& z) {
  return c10_complex_math::log(z) * T(1.44269504088896340736);
}
/// log(1 + z), exact for small z too.
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> log1p(const c10::complex<T>& z) {
  const T x = z.real(), y = z.imag();
  const T theta = ::atan2(y, x + T(1));
  const T r = ::hypot(x, y);
  if (r < T(0.5)) {
    return c10::complex<T>(T(0.5) * ::log1p(x * (T(2) + x) + y * y), theta);
  }
  return c10::complex<T>(::log(::hypot(x + T(1), y)), theta);
}
/// exp(z) - 1, exact for small z too.
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> expm1(const c10::complex<T>& z) {
  const T x = z.real(), y = z.imag();
  const T a = ::sin(y / T(2));
  const T real = ::expm1(x) * ::cos(y) - T(2) * a * a;
  return c10::complex<T>(real, ::exp(x) * ::sin(y));
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> pow(const c10::complex<T>& x, const c10::complex<T>& y) {
#if defined(__CUDA_ARCH__)
  return device::pow(x, y);
#else
  return static_cast<c10::complex<T>>(std::pow(static_cast<std::complex<T>>(x), static_cast<std::complex<T>>(y)));
#endif
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> pow(const c10::complex<T>& x, const T& y) {
#if defined(__CUDA_ARCH__)
  return device::pow(x, c10::complex<T>(y));
#else
  return static_cast<c10::complex<T>>(std::pow(static_cast<std::complex<T>>(x), y));
#endif
}
template <typename T>
C10_HOST_DEVICE inline c10::complex<T> pow(const T& x, const c10::complex<T>& y) {
#if defined(__CUDA_ARCH__)
  return device::pow(c10::complex<T>(x), y);
#else
  return static_cast<c10::complex<T>>(std::pow(x, static_cast<std::complex<T>>(y)));
#endif
}
template <typename T, typename U>
C10_HOST_DEVICE inline auto pow(const c10::complex<T>& x, const c10::complex<U>& y)
    -> c10::complex<decltype(T() * U())> {
  using R = c10::complex<decltype(T() * U())>;
  return c10_complex_math::pow(R(x), R(y));
}

} // namespace c10_complex_math

using c10_complex_math::acos;
using c10_complex_math::acosh;
using c10_complex_math::asin;
using c10_complex_math::asinh;
using c10_complex_math::atan;
using c10_complex_math::atanh;
using c10_complex_math::cos;
using c10_complex_math::cosh;
using c10_complex_math::exp;
using c10_complex_math::expm1;
using c10_complex_math::log;
using c10_complex_math::log10;
using c10_complex_math::log1p;
using c10_complex_math::log2;
using c10_complex_math::pow;
using c10_complex_math::sin;
using c10_complex_math::sinh;
using c10_complex_math::sqrt;
using c10_complex_math::tan;
using c10_complex_math::tanh;

namespace std {

using c10_complex_math::acos;
using c10_complex_math::acosh;
using c10_complex_math::asin;
using c10_complex_math::asinh;
using c10_complex_math::atan;
using c10_complex_math::atanh;
using c10_complex_math::cos;
using c10_complex_math::cosh;
using c10_complex_math::exp;
using c10_complex_math::expm1;
using c10_complex_math::log;
using c10_complex_math::log10;
using c10_complex_math::log1p;
using c10_complex_math::log2;
using c10_complex_math::pow;
using c10_complex_math::sin;
using c10_complex_math::sinh;
using c10_complex_math::sqrt;
using c10_complex_math::tan;
using c10_complex_math::tanh;

template <typename T>
C10_HOST_DEVICE constexpr T real(const c10::complex<T>& z) {
  return z.real();
}
template <typename T>
C10_HOST_DEVICE constexpr T imag(const c10::complex<T>& z) {
  return z.imag();
}
template <typename T>
C10_HOST_DEVICE T abs(const c10::complex<T>& z) {
  return ::hypot(z.real(), z.imag());
}
template <typename T>
C10_HOST_DEVICE T arg(const c10::complex<T>& z) {
  return ::atan2(z.imag(), z.real());
}
template <typename T>
C10_HOST_DEVICE constexpr T norm(const c10::complex<T>& z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <typename T>
C10_HOST_DEVICE constexpr c10::complex<T> conj(const c10::complex<T>& z) {
  return c10::complex<T>(z.real(), -z.imag());
}
template <typename T>
C10_HOST_DEVICE bool isnan(const c10::complex<T>& z) {
  return z.real() != z.real() || z.imag() != z.imag();
}

} // namespace std

namespace c10 {

template <typename T>
C10_HOST_DEVICE complex<T> polar(const T& r, const T& theta = T()) {
  return complex<T>(r * ::cos(theta), r * ::sin(theta));
}

} // namespace c10
