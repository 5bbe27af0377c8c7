#include "test/support/special_reference.h"

#include <cmath>

namespace test {

double chebyshev_u(double x, double n) {
  const int degree = static_cast<int>(std::floor(n));
  double sum = 0;
  double binomial = 1; // (degree - k) over k
  for (int k = 0; 2 * k <= degree; ++k) {
    if (k > 0) {
      binomial *= static_cast<double>(degree - 2 * k + 2) * (degree - 2 * k + 1) / ((degree - k + 1.0) * k);
    }
    sum += (k % 2 == 0 ? binomial : -binomial) * std::pow(2 * x, degree - 2 * k);
  }
  return sum;
}

double chebyshev_t(double x, double n) {
  return n < 1 ? 1 : n < 2 ? x : 0.5 * (chebyshev_u(x, n) - chebyshev_u(x, n - 2));
}

double chebyshev_v(double x, double n) {
  return n < 1 ? 1 : chebyshev_u(x, n) - chebyshev_u(x, n - 1);
}

double chebyshev_w(double x, double n) {
  return n < 1 ? 1 : chebyshev_u(x, n) + chebyshev_u(x, n - 1);
}

double incomplete_gamma(double a, double x) {
  // With t = x s^(1/a) the integral of t^(a-1) exp(-t) is x^a / a times that of exp(-t) over s in [0, 1]. The
  // substitution s = 1 / (1 + exp(pi sinh(u))) takes away what is singular at the ends: the trapezoidal rule is then
  // exact.
  constexpr double kPi = 3.14159265358979323846;
  constexpr double kStep = 1.0 / 64;
  double integral = 0;
  for (int i = -4 * 64; i <= 4 * 64; ++i) {
    const double u = i * kStep;
    const double e = std::exp(kPi * std::sinh(u));
    const double s = 1 / (1 + e);
    const double weight = kPi * std::cosh(u) * s * (e / (1 + e));
    if (std::isfinite(weight)) {
      integral += weight * std::exp(-x * std::pow(s, 1 / a));
    }
  }
  return kStep * integral * std::exp(a * std::log(x) - std::lgamma(a + 1));
}

} // namespace test
