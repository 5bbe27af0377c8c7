// How samples of beta distributions move with their parameters, in double for all dtypes.
//
// The distribution function I_x(a, b) is x^a (1 - x)^b / (a B(a, b)) times a continued fraction, which converges fast
// left of the mean; right of it 1 - I_{1-x}(b, a) takes its place. Its derivative for a parameter is that of each step
// of the fraction's evaluation, carried along (Boik and Robison-Cox, Derivatives of the incomplete beta function,
// 1998).
#pragma once

#include <aten/native/pointwise/special.h>

namespace at::native {

namespace pointwise {

/// A number and its derivative.
struct Dual {
  double value, slope;
};
HOST_DEVICE inline Dual operator*(Dual a, Dual b) {
  return {a.value * b.value, a.value * b.slope + a.slope * b.value};
}
HOST_DEVICE inline Dual operator/(Dual a, Dual b) {
  const double ratio = a.value / b.value;
  return {ratio, (a.slope - ratio * b.slope) / b.value};
}
HOST_DEVICE inline Dual operator+(Dual a, Dual b) {
  return {a.value + b.value, a.slope + b.slope};
}
HOST_DEVICE inline Dual operator+(Dual a, double b) {
  return {a.value + b, a.slope};
}

/// The continued fraction of I_x(a, b), by Lentz's evaluation, with its derivative for what a and b depend on.
HOST_DEVICE inline Dual beta_fraction(Dual a, Dual b, double x) {
  const Dual one{1, 0}, minus_x{-x, 0};
  Dual c = one, d{0, 0}, value = one;
  for (int n = 1; n < 20000; ++n) {
    const double m = n / 2;
    const Dual step = n % 2 == 0 ? Dual{m * (b.value - m) * x, m * b.slope * x} : minus_x * (a + m) * (a + b + m);
    const Dual term = step / ((a + (n - 1.0)) * (a + double(n)));
    d = one / (term * d + 1.0);
    c = term / c + 1.0;
    const Dual factor = c * d;
    value = value * factor;
    // So that NaN ends it, too.
    if (!(std::fabs(factor.value - 1) > 1e-16 ||
          std::fabs(factor.slope) > 1e-16 * std::fabs(value.slope / value.value))) {
      break;
    }
  }
  return one / value;
}

/// For x distributed as beta(alpha, total - alpha): how x moves with alpha when its quantile stays, divided by 1 - x.
HOST_DEVICE inline double dirichlet_grad(double x, double alpha, double total) {
  const double beta = total - alpha;
  if (!(alpha > 0) || !(beta > 0) || !(x >= 0) || !(x <= 1)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (x == 0) {
    return 0;
  }
  // The derivative of log(x^a (1 - x)^b / B(a, b)) for a.
  const double logarithm = std::log(x) - digamma(alpha) + digamma(total);
  if (x * (total + 2) < alpha + 1) {
    const Dual fraction = beta_fraction({alpha, 1}, {beta, 0}, x);
    return -x / alpha * (fraction.value * (logarithm - 1 / alpha) + fraction.slope);
  }
  const Dual fraction = beta_fraction({beta, 0}, {alpha, 1}, 1 - x);
  return x / beta * (fraction.value * logarithm + fraction.slope);
}

} // namespace pointwise

struct DirichletGrad {
  template <class T>
  HOST_DEVICE T operator()(T x, T alpha, T total) const {
    return static_cast<T>(pointwise::dirichlet_grad(x, alpha, total));
  }
};

} // namespace at::native
