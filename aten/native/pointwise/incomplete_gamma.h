// The regularised incomplete gamma functions P(a, x) and Q(a, x) = 1 - P(a, x), in double for all dtypes.
//
// A power series gives P left of the peak of the integrand, a continued fraction Q right of it; each is exact where it
// is small. Both need some multiple of sqrt(a) terms near the peak, so that large a goes to Temme's uniform expansion.
#pragma once

#include <aten/native/pointwise/special.h>

namespace at::native {

namespace pointwise {

/// log(1 + x) - x without cancellation.
HOST_DEVICE inline double log1p_minus(double x) {
  if (std::fabs(x) > 0.1) {
    return std::log1p(x) - x;
  }
  double power = -x, sum = 0;
  for (int k = 2; k < 24; ++k) {
    power *= -x;
    sum -= power / k;
  }
  return sum;
}

/// x^a exp(-x) / gamma(a + 1).
HOST_DEVICE inline double gamma_density(double a, double x) {
  if (a < 10) {
    return std::exp(a * std::log(x) - x) / std::tgamma(a + 1);
  }
  const double z = 1 / (a * a);
  const double stirling = horner(z, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360) / a;
  return std::exp(a * log1p_minus((x - a) / a) - stirling) / std::sqrt(6.28318530717958647693 * a);
}

HOST_DEVICE inline double lower_gamma_series(double a, double x) {
  double term = 1, sum = 1;
  for (double n = a + 1; term > sum * 1e-17; n += 1) {
    term *= x / n;
    sum += term;
  }
  return gamma_density(a, x) * sum;
}

/// Lentz's evaluation of the continued fraction.
HOST_DEVICE inline double upper_gamma_fraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, value = d;
  for (int k = 1; k < 20000; ++k) {
    const double numerator = -k * (k - a);
    b += 2;
    d = numerator * d + b;
    d = 1 / (d == 0 ? kTiny : d);
    c = b + numerator / c;
    c = c == 0 ? kTiny : c;
    const double factor = c * d;
    value *= factor;
    if (std::fabs(factor - 1) < 1e-16) {
      break;
    }
  }
  return gamma_density(a, x) * a * value;
}

/// Temme's expansion for large a: an error function of the distance from the peak, and a correction. Away from the peak
/// both functions are 0 or 1 in double, so that the coefficients' power series are only needed close to it.
template <bool Upper>
HOST_DEVICE inline double gamma_temme(double a, double x) {
  const double mu = (x - a) / a;
  const double half_square = -log1p_minus(mu); // eta^2 / 2
  const double distance = std::copysign(std::sqrt(a * half_square), mu);
  const double main = 0.5 * std::erfc(Upper ? distance : -distance);
  if (std::fabs(distance) > 28) {
    return main;
  }
  const double eta = std::copysign(std::sqrt(2 * half_square), mu);
  const double c0 = horner(eta, -1.0 / 3, 1.0 / 12, -2.0 / 135, 1.0 / 864, 1.0 / 2835, -1.78755144032921811e-4);
  const double c1 = horner(eta, -1.0 / 540, -1.0 / 288, 1.0 / 378, -9.90226337448559671e-4, 2.05761316872427984e-4);
  const double c2 = horner(eta, 4.1335978835978836e-3, -2.68132716049382716e-3, 7.71604938271604938e-4);
  const double correction =
      std::exp(-a * half_square) / std::sqrt(6.28318530717958647693 * a) * (c0 + (c1 + c2 / a) / a);
  return Upper ? main + correction : main - correction;
}

template <bool Upper>
HOST_DEVICE inline double incomplete_gamma(double a, double x) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double nothing = Upper ? 1 : 0, everything = Upper ? 0 : 1;
  if (a < 0 || x < 0) {
    return nan;
  }
  if (a == 0) {
    return x > 0 ? everything : nan;
  }
  // An end of the range decides, whatever the other argument: NaN too.
  if (x == 0) {
    return nothing;
  }
  if (is_inf(a)) {
    return is_inf(x) ? nan : nothing;
  }
  if (is_inf(x)) {
    return everything;
  }
  if (a != a || x != x) {
    return nan;
  }
  if (a > 1e5) {
    return gamma_temme<Upper>(a, x);
  }
  // For small a the fraction is slow below x = 1, and Q is not small there.
  if (x < a + 1) {
    const double lower = lower_gamma_series(a, x);
    return Upper ? 1 - lower : lower;
  }
  const double upper = upper_gamma_fraction(a, x);
  return Upper ? upper : 1 - upper;
}

/// How a gamma sample x moves with alpha when its quantile stays: -(dP/dalpha) / (dP/dx).
HOST_DEVICE inline double gamma_sample_grad(double alpha, double x) {
  if (!(alpha > 0) || !(x > 0)) {
    return x == 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
  }
  // P or Q, whichever is the smaller, by a difference of their logarithms; the error is of the order of step^2.
  const double step = 1e-4 * (alpha > 1e-3 ? alpha : 1e-3) / (alpha > 1 ? std::sqrt(alpha) : 1.0);
  const bool upper = x > alpha;
  const auto tail = [&](double a) { return upper ? incomplete_gamma<true>(a, x) : incomplete_gamma<false>(a, x); };
  const double slope = tail(alpha) * (std::log(tail(alpha + step)) - std::log(tail(alpha - step))) / (2 * step);
  const double density = gamma_density(alpha, x) * alpha / x;
  return (upper ? slope : -slope) / density;
}

} // namespace pointwise

struct Igamma {
  template <class T>
  HOST_DEVICE T operator()(T a, T x) const {
    return static_cast<T>(pointwise::incomplete_gamma<false>(a, x));
  }
};

struct Igammac {
  template <class T>
  HOST_DEVICE T operator()(T a, T x) const {
    return static_cast<T>(pointwise::incomplete_gamma<true>(a, x));
  }
};

struct StandardGammaGrad {
  template <class T>
  HOST_DEVICE T operator()(T alpha, T sample) const {
    return static_cast<T>(pointwise::gamma_sample_grad(alpha, sample));
  }
};

} // namespace at::native
