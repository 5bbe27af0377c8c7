// Special functions of single numbers, for elements of one's own kernels. In the global namespace, where libtorch has
// them.
#pragma once

#include <aten/core/OpMathType.h>
#include <aten/native/pointwise/arithmetic.h>
#include <aten/native/pointwise/bessel.h>
#include <aten/native/pointwise/incomplete_gamma.h>
#include <aten/native/pointwise/normal.h>
#include <aten/native/pointwise/polynomial.h>
#include <aten/native/pointwise/special.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace at::native::pointwise {

/// The function of one or more numbers of a dtype, in float for Half and BFloat16.
template <class Function, class T, class... Rest>
HOST_DEVICE inline T call(T x, Rest... rest) {
  using Wide = at::opmath_type<T>;
  return static_cast<T>(Function{}(static_cast<Wide>(x), static_cast<Wide>(rest)...));
}

} // namespace at::native::pointwise

/// The inverse of erf: infinite at -1 and 1, NaN beyond.
template <class T>
HOST_DEVICE inline T calc_erfinv(T x) {
  return at::native::pointwise::call<at::native::Erfinv>(x);
}
/// exp(x^2) erfc(x).
template <class T>
HOST_DEVICE inline T calc_erfcx(T x) {
  return at::native::pointwise::call<at::native::Erfcx>(x);
}
/// The inverse of the normal distribution function.
template <class T>
HOST_DEVICE inline T calc_ndtri(T p) {
  return at::native::pointwise::call<at::native::Ndtri>(p);
}
/// The logarithm of the normal distribution function.
template <class T>
HOST_DEVICE inline T calc_log_ndtr(T x) {
  return at::native::pointwise::call<at::native::LogNdtr>(x);
}

// ---- the gamma function and its relatives ----

template <class T>
HOST_DEVICE inline T calc_digamma(T x) {
  return at::native::pointwise::call<at::native::Digamma>(x);
}
/// The derivative of digamma.
template <class T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0>
HOST_DEVICE inline T trigamma(T x) {
  return at::native::pointwise::trigamma(x);
}
/// The n-th derivative of digamma.
template <class T>
inline T calc_polygamma(T x, int n) {
  using Wide = at::opmath_type<T>;
  return static_cast<T>(at::native::Polygamma<Wide>(n)(static_cast<Wide>(x)));
}
/// Hurwitz' zeta function: the sum of (k + q)^-x over k >= 0.
template <class T>
HOST_DEVICE inline T zeta(T x, T q) {
  return at::native::pointwise::call<at::native::Zeta>(x, q);
}
/// The regularized lower incomplete gamma function, and the upper one.
template <class T>
HOST_DEVICE inline T calc_igamma(T a, T x) {
  return at::native::pointwise::call<at::native::Igamma>(a, x);
}
template <class T>
HOST_DEVICE inline T calc_igammac(T a, T x) {
  return at::native::pointwise::call<at::native::Igammac>(a, x);
}

// ---- Bessel functions ----

/// Modified, of the first kind; i0e and i1e are scaled by exp(-|x|).
template <class T>
HOST_DEVICE inline T calc_i0(T x) {
  return at::native::pointwise::call<at::native::BesselI0>(x);
}
template <class T>
HOST_DEVICE inline T calc_i0e(T x) {
  return at::native::pointwise::call<at::native::BesselI0e>(x);
}
template <class T>
HOST_DEVICE inline T calc_i1(T x) {
  return at::native::pointwise::call<at::native::BesselI1>(x);
}
template <class T>
HOST_DEVICE inline T calc_i1e(T x) {
  return at::native::pointwise::call<at::native::BesselI1e>(x);
}
template <class T>
HOST_DEVICE inline T modified_bessel_i0_forward(T x) {
  return calc_i0(x);
}
template <class T>
HOST_DEVICE inline T modified_bessel_i1_forward(T x) {
  return calc_i1(x);
}
/// Modified, of the second kind.
template <class T>
HOST_DEVICE inline T modified_bessel_k0_forward(T x) {
  return at::native::pointwise::call<at::native::BesselK0>(x);
}
template <class T>
HOST_DEVICE inline T modified_bessel_k1_forward(T x) {
  return at::native::pointwise::call<at::native::BesselK1>(x);
}
template <class T>
HOST_DEVICE inline T scaled_modified_bessel_k0_forward(T x) {
  return at::native::pointwise::call<at::native::BesselK0e>(x);
}
template <class T>
HOST_DEVICE inline T scaled_modified_bessel_k1_forward(T x) {
  return at::native::pointwise::call<at::native::BesselK1e>(x);
}
template <class T>
HOST_DEVICE inline T bessel_j0_forward(T x) {
  return at::native::pointwise::call<at::native::BesselJ0>(x);
}
template <class T>
HOST_DEVICE inline T bessel_j1_forward(T x) {
  return at::native::pointwise::call<at::native::BesselJ1>(x);
}
template <class T>
HOST_DEVICE inline T bessel_y0_forward(T x) {
  return at::native::pointwise::call<at::native::BesselY0>(x);
}
template <class T>
HOST_DEVICE inline T bessel_y1_forward(T x) {
  return at::native::pointwise::call<at::native::BesselY1>(x);
}
template <class T>
HOST_DEVICE inline T spherical_bessel_j0_forward(T x) {
  return at::native::pointwise::call<at::native::SphericalBesselJ0>(x);
}
template <class T>
HOST_DEVICE inline T airy_ai_forward(T x) {
  return at::native::pointwise::call<at::native::AiryAi>(x);
}

// ---- orthogonal polynomials: the degree is an integer or a whole number of the dtype ----

template <class T, class Degree>
HOST_DEVICE inline T chebyshev_polynomial_t_forward(T x, Degree n) {
  return at::native::pointwise::call<at::native::ChebyshevT>(x, n);
}
template <class T, class Degree>
HOST_DEVICE inline T chebyshev_polynomial_u_forward(T x, Degree n) {
  return at::native::pointwise::call<at::native::ChebyshevU>(x, n);
}
template <class T, class Degree>
HOST_DEVICE inline T chebyshev_polynomial_v_forward(T x, Degree n) {
  return at::native::pointwise::call<at::native::ChebyshevV>(x, n);
}
template <class T, class Degree>
HOST_DEVICE inline T chebyshev_polynomial_w_forward(T x, Degree n) {
  return at::native::pointwise::call<at::native::ChebyshevW>(x, n);
}
template <class T, class Degree>
HOST_DEVICE inline T shifted_chebyshev_polynomial_t_forward(T x, Degree n) {
  return at::native::pointwise::call<at::native::ShiftedChebyshevT>(x, n);
}
template <class T, class Degree>
HOST_DEVICE inline T shifted_chebyshev_polynomial_u_forward(T x, Degree n) {
  return at::native::pointwise::call<at::native::ShiftedChebyshevU>(x, n);
}
template <class T, class Degree>
HOST_DEVICE inline T shifted_chebyshev_polynomial_v_forward(T x, Degree n) {
  return at::native::pointwise::call<at::native::ShiftedChebyshevV>(x, n);
}
template <class T, class Degree>
HOST_DEVICE inline T shifted_chebyshev_polynomial_w_forward(T x, Degree n) {
  return at::native::pointwise::call<at::native::ShiftedChebyshevW>(x, n);
}
template <class T, class Degree>
HOST_DEVICE inline T hermite_polynomial_h_forward(T x, Degree n) {
  return at::native::pointwise::call<at::native::HermiteH>(x, n);
}
template <class T, class Degree>
HOST_DEVICE inline T hermite_polynomial_he_forward(T x, Degree n) {
  return at::native::pointwise::call<at::native::HermiteHe>(x, n);
}
template <class T, class Degree>
HOST_DEVICE inline T laguerre_polynomial_l_forward(T x, Degree n) {
  return at::native::pointwise::call<at::native::LaguerreL>(x, n);
}
template <class T, class Degree>
HOST_DEVICE inline T legendre_polynomial_p_forward(T x, Degree n) {
  return at::native::pointwise::call<at::native::LegendreP>(x, n);
}

// ---- series and integers ----

/// coefficients[0] x^degree + ... + coefficients[degree].
template <class T>
HOST_DEVICE inline T polevl(T x, const T coefficients[], std::size_t degree) {
  T sum = coefficients[0];
  for (std::size_t i = 1; i <= degree; ++i) {
    sum = sum * x + coefficients[i];
  }
  return sum;
}
/// The sum of coefficients[count - 1 - k] T_k(x / 2), the first term halved (Clenshaw).
template <class T>
HOST_DEVICE inline T chbevl(T x, const T coefficients[], int count) {
  T sums[3] = {};
  for (int i = 0; i < count; ++i) {
    sums[2] = sums[1];
    sums[1] = sums[0];
    sums[0] = x * sums[1] - sums[2] + coefficients[i];
  }
  return (sums[0] - sums[2]) / T(2);
}
template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
HOST_DEVICE inline T calc_gcd(T a, T b) {
  return at::native::Gcd{}(a, b);
}
