// The scaled complementary error function and the inverse of the normal distribution function, exact far into the tail.
#pragma once

#include <aten/native/pointwise/chebyshev_series.h>
#include <aten/native/pointwise/special.h>

namespace at::native {

namespace pointwise {

/// exp(x^2) erfc(x).
HOST_DEVICE inline double erfcx(double x) {
  if (x < 0) {
    return x < -26.7 ? std::numeric_limits<double>::infinity() : 2 * std::exp(x * x) - erfcx(-x);
  }
  return x == std::numeric_limits<double>::infinity() ? 0 : erfcx_positive(x / (x + 3.75)) / (1 + 2 * x);
}

/// The x with P(normal variable < x) = p.
HOST_DEVICE inline double ndtri(double p) {
  constexpr double kRootHalf = 0.70710678118654752440;
  if (!(p > 0 && p < 1)) {
    return p == 0 ? -std::numeric_limits<double>::infinity()
        : p == 1  ? std::numeric_limits<double>::infinity()
                  : std::numeric_limits<double>::quiet_NaN();
  }
  if (p > 0.1 && p < 0.9) {
    return erfinv(2 * p - 1) / kRootHalf;
  }
  // In the tail, Newton's method on the logarithm of p, where the function is nearly a parabola.
  const double tail = p < 0.5 ? p : 1 - p, logarithm = std::log(tail);
  double x = std::sqrt(-2 * logarithm);
  x -= (std::log(x) + 0.91893853320467274178) / x;
  for (int step = 0; step < 6; ++step) {
    const double scaled = erfcx(x * kRootHalf);
    const double error = std::log(0.5 * scaled) - 0.5 * x * x - logarithm;
    x += error * scaled * 1.2533141373155002512; // sqrt(pi / 2): minus one over the slope is scaled times this
  }
  return p < 0.5 ? -x : x;
}

} // namespace pointwise

struct Erfcx {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(pointwise::erfcx(x));
  }
};

struct Ndtri {
  template <class T>
  HOST_DEVICE T operator()(T p) const {
    return static_cast<T>(pointwise::ndtri(p));
  }
};

} // namespace at::native
