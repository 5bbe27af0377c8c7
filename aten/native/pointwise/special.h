// Special functions.
#pragma once

#include <aten/native/pointwise/math.h>

#include <optional>

namespace at::native {

struct Erf {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::erf;
    return erf(x);
  }
};

struct Erfc {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::erfc;
    return erfc(x);
  }
};

namespace pointwise {

template <class T>
HOST_DEVICE inline T horner(T, T c) {
  return c;
}
/// c0 + c1 x + c2 x^2 + ...
template <class T, class... C>
HOST_DEVICE inline T horner(T x, T c0, C... rest) {
  return c0 + x * horner(x, static_cast<T>(rest)...);
}

// The root of erf(y) = x by Giles' approximation and two Newton steps.
template <class T>
HOST_DEVICE inline T erfinv(T x) {
  if (!(x > T(-1) && x < T(1))) {
    return x == T(1) || x == T(-1) ? std::copysign(std::numeric_limits<T>::infinity(), x)
                                   : std::numeric_limits<T>::quiet_NaN();
  }
  double w = -std::log((1.0 - x) * (1.0 + static_cast<double>(x)));
  double y;
  if (w < 5.0) {
    w -= 2.5;
    y = horner(
        w, 1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087, -4.39150654e-06, -3.5233877e-06,
        3.43273939e-07, 2.81022636e-08);
  } else {
    w = std::sqrt(w) - 3.0;
    y = horner(
        w, 2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773, -0.00367342844, 0.00134934322,
        0.000100950558, -0.000200214257);
  }
  y *= x;
  for (int step = 0; step < 2; ++step) {
    // With erfc on the far side, where erf has no digits left.
    const double error = y > 0.5 ? (1.0 - x) - std::erfc(y) : y < -0.5 ? std::erfc(-y) - (1.0 + x) : std::erf(y) - x;
    y -= error / (1.12837916709551257390 * std::exp(-y * y));
  }
  return static_cast<T>(y);
}

// Derivative of lgamma: recurrence up to 10, then the asymptotic series; reflection for negative arguments.
template <class T>
HOST_DEVICE inline double digamma(T argument) {
  double x = argument;
  if (x == 0) {
    return std::copysign(std::numeric_limits<double>::infinity(), -x);
  }
  double result = 0;
  if (x < 0) {
    if (x == std::trunc(x)) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    double whole;
    const double fraction = std::modf(x, &whole);
    result = -3.14159265358979323846 / std::tan(3.14159265358979323846 * fraction);
    x = 1 - x;
  }
  while (x < 10) {
    result -= 1 / x;
    x += 1;
  }
  if (x == std::numeric_limits<double>::infinity()) {
    return x;
  }
  const double z = 1 / (x * x);
  const double series = z *
      horner(z, 8.33333333333333333333e-2, -8.33333333333333333333e-3, 3.96825396825396825397e-3,
             -4.16666666666666666667e-3, 7.57575757575757575758e-3, -2.10927960927960927961e-2,
             8.33333333333333333333e-2);
  return result + std::log(x) - 0.5 / x - series;
}

// Second derivative of lgamma; the sine's rounding at negative whole numbers gives large finite values, as everywhere.
template <class T>
HOST_DEVICE inline T trigamma(T x) {
  T sign = T(1), result = T(0);
  if (x < T(0.5)) {
    constexpr T kPi = T(3.14159265358979323846);
    const T sine = std::sin(kPi * x);
    sign = T(-1);
    result = -(kPi * kPi) / (sine * sine);
    x = T(1) - x;
  }
  for (int i = 0; i < 6; ++i) {
    result += T(1) / (x * x);
    x += T(1);
  }
  const T z = T(1) / (x * x);
  result += (T(1) + T(1) / (T(2) * x) + z * (T(1.0 / 6) - z * (T(1.0 / 30) - z * T(1.0 / 42)))) / x;
  return sign * result;
}

// Hurwitz zeta(s, q) = sum over k >= 0 of (k + q)^-s by Euler-Maclaurin, for s > 1.
HOST_DEVICE inline double zeta(double s, double q) {
  if (s == 1) {
    return std::numeric_limits<double>::infinity();
  }
  if (s < 1) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (q <= 0) {
    if (q == std::floor(q)) {
      return std::numeric_limits<double>::infinity();
    }
    if (s != std::floor(s)) {
      return std::numeric_limits<double>::quiet_NaN(); // powers of negative numbers
    }
  }
  double sum = 0;
  double a = q;
  for (int k = 0; k < 12 || a <= 9; ++k, a += 1) {
    const double term = std::pow(a, -s);
    sum += term;
    // The tail of a large s, even of an infinite one, is nothing beside the sum.
    if (a > 1 && std::fabs(term) < 1e-17 * std::fabs(sum)) {
      return sum;
    }
  }
  double power = std::pow(a, -s);
  sum += power * a / (s - 1) + 0.5 * power;
  // Bernoulli numbers over factorials, alternating.
  const double terms[] = {
      12.0,
      -720.0,
      30240.0,
      -1209600.0,
      47900160.0,
      -1.8924375803183791606e9,
      7.47242496e10,
      -2.950130727918164224e12,
      1.1646782814350067249e14};
  double factor = 1;
  double k = 0;
  for (const double term : terms) {
    factor *= s + k;
    power /= a;
    sum += factor * power / term;
    k += 1;
    factor *= s + k;
    power /= a;
    k += 1;
  }
  return sum;
}

// Modified Bessel functions by their power series below 20 and the asymptotic series above.
template <bool Scaled>
HOST_DEVICE inline double bessel_i(int order, double argument) {
  const double x = std::fabs(argument);
  double result;
  if (x < 25) {
    double term = order == 0 ? 1 : x / 2;
    double sum = term;
    const double quarter = x * x / 4;
    for (int k = 1; k < 100 && term > sum * 1e-17; ++k) {
      term *= quarter / (static_cast<double>(k) * (k + order));
      sum += term;
    }
    result = Scaled ? sum * std::exp(-x) : sum;
  } else {
    const double mu = 4.0 * order * order;
    double term = 1, sum = 1;
    for (int k = 1; k < 30; ++k) {
      const double odd = 2 * k - 1;
      const double next = term * -(mu - odd * odd) / (k * 8 * x);
      if (std::fabs(next) > std::fabs(term) || std::fabs(next) < 1e-17) {
        break;
      }
      term = next;
      sum += term;
    }
    result = sum / std::sqrt(6.28318530717958647693 * x);
    if (!Scaled) {
      // In two factors: e^x overflows before the function does.
      const double half = std::exp(x / 2);
      result = result * half * half;
    }
  }
  return order == 1 && argument < 0 ? -result : argument != argument ? argument : result;
}

} // namespace pointwise

struct Erfinv {
  static constexpr bool kVecFloat = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using pointwise::erfinv;
    return erfinv(x);
  }
};

struct Lgamma {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
#if defined(__CUDA_ARCH__)
    return ::lgamma(x);
#else
    // std::lgamma writes the global signgam, which is a race between threads.
    int sign;
    if constexpr (std::is_same_v<T, float>) {
      return ::lgammaf_r(x, &sign);
    } else {
      return ::lgamma_r(x, &sign);
    }
#endif
  }
};

struct Digamma {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(pointwise::digamma(x));
  }
};

template <class T>
struct Polygamma {
  explicit Polygamma(std::int64_t n_) : n(n_) {
    for (std::int64_t k = 2; k <= n && factor < std::numeric_limits<double>::infinity(); ++k) {
      factor *= static_cast<double>(k);
    }
    factor = n % 2 == 0 ? -factor : factor;
  }
  HOST_DEVICE T operator()(T x) const {
    if (n == 0) {
      return static_cast<T>(pointwise::digamma(x));
    }
    if (n == 1) {
      return pointwise::trigamma(x);
    }
    return static_cast<T>(factor * pointwise::zeta(static_cast<double>(n) + 1, static_cast<double>(x)));
  }
  std::int64_t n;
  double factor = 1;
};

struct Zeta {
  template <class T>
  HOST_DEVICE T operator()(T s, T q) const {
    return static_cast<T>(pointwise::zeta(s, q));
  }
};

/// -x log(x), 0 at 0.
struct Entr {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return pointwise::is_nan(x) ? x
        : x > T(0)              ? -x * std::log(x)
        : x == T(0)             ? T(0)
                                : -std::numeric_limits<T>::infinity();
  }
};

/// The logarithm of the normal distribution function.
struct LogNdtr {
  template <class T>
  HOST_DEVICE T operator()(T argument) const {
    const double x = argument;
    if (x > -37) {
      return static_cast<T>(
          x < 5 ? std::log(0.5 * std::erfc(-x * 0.70710678118654752440))
                : std::log1p(-0.5 * std::erfc(x * 0.70710678118654752440)));
    }
    // erfc underflows: its asymptotic series.
    const double z = 1 / (x * x);
    const double series = 1 - z * (1 - z * (3 - z * (15 - z * 105)));
    return static_cast<T>(-0.5 * x * x - std::log(-x) - 0.91893853320467274178 + std::log(series));
  }
};

struct BesselI0 {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(pointwise::bessel_i<false>(0, x));
  }
};
struct BesselI0e {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(pointwise::bessel_i<true>(0, x));
  }
};
struct BesselI1 {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(pointwise::bessel_i<false>(1, x));
  }
};
struct BesselI1e {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(pointwise::bessel_i<true>(1, x));
  }
};

/// log(x / (1 - x)) of x clamped to [eps, 1 - eps].
template <class T>
struct Logit {
  static constexpr bool kVec = true;
  explicit Logit(const std::optional<double>& eps_) : eps(static_cast<T>(eps_.value_or(-1))) {}
  template <class V>
  HOST_DEVICE V operator()(V x) const {
    using pointwise::select;
    using std::log;
    const V one(T(1)), low(eps), high(T(1) - eps);
    if (eps >= T(0)) {
      x = select(x < low, low, select(x > high, high, x));
    }
    return log(x / (one - x));
  }
  T eps;
};
template <class T>
struct LogitBackward {
  explicit LogitBackward(const std::optional<double>& eps_) : eps(static_cast<T>(eps_.value_or(-1))) {}
  HOST_DEVICE T operator()(T grad, T x) const {
    const T low = eps < T(0) ? T(0) : eps;
    if (x < low || x > T(1) - low) {
      return eps < T(0) ? std::numeric_limits<T>::quiet_NaN() : T(0);
    }
    return x == T(0) || x == T(1) ? grad * std::numeric_limits<T>::infinity() : grad / (x * (T(1) - x));
  }
  T eps;
};

} // namespace at::native
