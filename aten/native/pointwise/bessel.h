// Bessel functions of the first and second kind, modified ones of the second, and the Airy function.
//
// Each is a Chebyshev series in a variable that maps its interval to [0, 1]: what is smooth about the function, with
// zeros, logarithms and waves taken out by hand. Computed in double for all dtypes.
#pragma once

#include <aten/native/pointwise/chebyshev_series.h>
#include <aten/native/pointwise/math.h>
#include <aten/native/pointwise/special.h>

namespace at::native {

namespace pointwise {

inline constexpr double kTwoOverPi = 0.63661977236758134308;

/// J and Y of order 0 or 1 above 8: sqrt(2 / (pi x)) (P cos(x') - Q sin(x')), and the same with the waves exchanged,
/// where x' = x - (2 order + 1) pi / 4. Sines of x alone keep the phase exact for large x.
template <int Order>
HOST_DEVICE inline double bessel_wave(double x, bool second_kind) {
  // At infinity NaN, as in PyTorch, though the limit is 0: sine and cosine have none.
  const double inverse = 8 / x, u = inverse * inverse;
  const double p = Order == 0 ? bessel0_p(u) : bessel1_p(u);
  const double q = inverse * (Order == 0 ? bessel0_q(u) : bessel1_q(u));
  const double s = std::sin(x), c = std::cos(x);
  // sqrt(2) times cosine and sine of x'.
  const double cosine = Order == 0 ? c + s : s - c;
  const double sine = Order == 0 ? s - c : -(s + c);
  return (second_kind ? p * sine + q * cosine : p * cosine - q * sine) * std::sqrt(0.5 * kTwoOverPi / x);
}

HOST_DEVICE inline double bessel_j0(double argument) {
  const double x = std::fabs(argument);
  if (x > 8) {
    return bessel_wave<0>(x, false);
  }
  const double square = x * x;
  return (square - 5.7831859629467845212) * (square - 30.471262343662086399) * j0_small(square / 64);
}

HOST_DEVICE inline double bessel_j1(double argument) {
  const double x = std::fabs(argument);
  if (x > 8) {
    return std::copysign(1.0, argument) * bessel_wave<1>(x, false);
  }
  const double square = x * x;
  return argument * (square - 14.681970642123893257) * (square - 49.21845632169460367) * j1_small(square / 64);
}

HOST_DEVICE inline double bessel_y0(double x) {
  if (!(x > 0)) {
    return x == 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  return x > 8 ? bessel_wave<0>(x, true) : y0_small(x * x / 64) + kTwoOverPi * std::log(x) * bessel_j0(x);
}

HOST_DEVICE inline double bessel_y1(double x) {
  if (!(x > 0)) {
    return x == 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  return x > 8 ? bessel_wave<1>(x, true) : x * y1_small(x * x / 64) + kTwoOverPi * (std::log(x) * bessel_j1(x) - 1 / x);
}

/// K0 or K1; Scaled: times exp(x).
template <int Order, bool Scaled>
HOST_DEVICE inline double bessel_k(double x) {
  if (!(x > 0)) {
    return x == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  if (x > 2) {
    const double series = Order == 0 ? k0_large(2 / x) : k1_large(2 / x);
    return (Scaled ? series : series * std::exp(-x)) / std::sqrt(x);
  }
  const double u = x * x / 4, logarithm = std::log(x / 2);
  const double value = Order == 0 ? k0_small(u) - logarithm * bessel_i<false>(0, x)
                                  : k1_small(u) / x + logarithm * bessel_i<false>(1, x);
  return Scaled ? value * std::exp(x) : value;
}

/// Ai: the power series near 0, Chebyshev series of its asymptotic forms beyond.
HOST_DEVICE inline double airy_ai(double argument) {
  constexpr double kRootPi = 1.7724538509055160273;
  const double x = std::fabs(argument);
  if (x == std::numeric_limits<double>::infinity()) {
    return std::numeric_limits<double>::quiet_NaN(); // as in PyTorch, though the limits are 0
  }
  if (argument > 2) {
    const double z = 2.0 / 3.0 * x * std::sqrt(x);
    return airy_positive(1.8856180831641267317 / z) * std::exp(-z) / (2 * kRootPi * std::sqrt(std::sqrt(x)));
  }
  if (argument < -3) {
    const double z = 2.0 / 3.0 * x * std::sqrt(x), ratio = 3.4641016151377545871 / z, u = ratio * ratio;
    const double s = std::sin(z), c = std::cos(z);
    const double f = airy_f(u), g = ratio * airy_g(u);
    return (f * (s + c) - g * (c - s)) * 0.70710678118654752440 / (kRootPi * std::sqrt(std::sqrt(x)));
  }
  const double cube = argument * argument * argument;
  double even = 0.35502805388781723926, odd = 0.25881940379280679841 * argument, sum = even - odd;
  for (int k = 1; k < 40 && std::fabs(even) + std::fabs(odd) > 1e-18; ++k) {
    even *= cube / ((3 * k - 1) * (3 * k));
    odd *= cube / ((3 * k) * (3 * k + 1));
    sum += even - odd;
  }
  return argument != argument ? argument : sum;
}

} // namespace pointwise

struct BesselJ0 {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(pointwise::bessel_j0(x));
  }
};
struct BesselJ1 {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(pointwise::bessel_j1(x));
  }
};
struct BesselY0 {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(pointwise::bessel_y0(x));
  }
};
struct BesselY1 {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(pointwise::bessel_y1(x));
  }
};
struct BesselK0 {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(pointwise::bessel_k<0, false>(x));
  }
};
struct BesselK0e {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(pointwise::bessel_k<0, true>(x));
  }
};
struct BesselK1 {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(pointwise::bessel_k<1, false>(x));
  }
};
struct BesselK1e {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(pointwise::bessel_k<1, true>(x));
  }
};
struct AiryAi {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(pointwise::airy_ai(x));
  }
};

/// sin(x) / x, the spherical Bessel function of order 0.
struct SphericalBesselJ0 {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return pointwise::is_inf(x) ? T(0) : x == T(0) ? T(1) : std::sin(x) / x;
  }
};

} // namespace at::native
