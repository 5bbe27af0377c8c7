// Orthogonal polynomials of a degree given for each element; 0 for a negative degree.
#pragma once

#include <aten/native/pointwise/math.h>

namespace at::native {

namespace pointwise {

/// The degree as a whole number; NaN and what no int64 holds count as negative. Beyond 2^40 parity is all that matters,
/// and it is even there.
HOST_DEVICE inline std::int64_t degree(double n) {
  constexpr double kMost = 1099511627776.0, kBeyond = 9223372036854775808.0;
  return n != n || n >= kBeyond ? -1 : static_cast<std::int64_t>(n > kMost ? kMost : n < -1 ? -1 : n);
}

/// Infinity for what T cannot hold, so that the terms after it are those of arithmetic in T: infinities meet and become
/// NaN.
template <class T>
HOST_DEVICE inline double within(double value) {
  const T narrowed = static_cast<T>(value);
  return narrowed - narrowed == T(0) ? value : narrowed;
}

/// The n-th of the sequence `first`, `second`, p[k + 1] = step(k, p[k], p[k - 1]), stopped by NaN. NaN for degrees that
/// would take more than a moment.
template <class T, class Step>
HOST_DEVICE inline double recurrence(std::int64_t n, double first, double second, const Step& step) {
  if (n <= 0) {
    return n == 0 ? first : 0;
  }
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  if (n > kMost) {
    return NAN;
  }
  second = within<T>(second);
  for (std::int64_t k = 1; k < n && second == second; ++k) {
    const double next = within<T>(step(static_cast<double>(k), second, first));
    first = second;
    second = next;
  }
  return second;
}

enum class ChebyshevKind { T, U, V, W };

/// Chebyshev polynomials: waves of n acos(x) inside [-1, 1], the recurrence p[k + 1] = 2 x p[k] - p[k - 1] for small n
/// and outside. The kinds differ in p[1] and in the wave.
template <ChebyshevKind Kind, class T>
HOST_DEVICE inline double chebyshev_polynomial(double x, double n_value) {
  const std::int64_t n = degree(n_value);
  if (n < 0) {
    return 0;
  }
  const double count = static_cast<double>(n), sign = n % 2 == 0 ? 1 : -1;
  if (x == 1 || x == -1) {
    const double parity = x > 0 ? 1 : sign;
    switch (Kind) {
      case ChebyshevKind::T:
        return parity;
      case ChebyshevKind::U:
        return parity * (count + 1);
      case ChebyshevKind::V:
        return x > 0 ? 1 : sign * (2 * count + 1);
      default:
        return x > 0 ? 2 * count + 1 : sign;
    }
  }
  if (n > 8 && std::fabs(x) < 1) {
    const double angle = std::acos(x);
    switch (Kind) {
      case ChebyshevKind::T:
        return std::cos(count * angle);
      case ChebyshevKind::U:
        return std::sin((count + 1) * angle) / std::sin(angle);
      case ChebyshevKind::V:
        return std::cos((count + 0.5) * angle) / std::cos(0.5 * angle);
      default:
        return std::sin((count + 0.5) * angle) / std::sin(0.5 * angle);
    }
  }
  const double second = Kind == ChebyshevKind::T ? x
      : Kind == ChebyshevKind::U                 ? 2 * x
      : Kind == ChebyshevKind::V                 ? 2 * x - 1
                                                 : 2 * x + 1;
  return recurrence<T>(n, 1, second, [x](double, double last, double before) { return 2 * x * last - before; });
}

} // namespace pointwise

template <pointwise::ChebyshevKind Kind>
struct ChebyshevPolynomial {
  template <class T>
  HOST_DEVICE T operator()(T x, T n) const {
    return static_cast<T>(pointwise::chebyshev_polynomial<Kind, T>(x, n));
  }
};
struct ChebyshevT : ChebyshevPolynomial<pointwise::ChebyshevKind::T> {};
struct ChebyshevU : ChebyshevPolynomial<pointwise::ChebyshevKind::U> {};
struct ChebyshevV : ChebyshevPolynomial<pointwise::ChebyshevKind::V> {};
struct ChebyshevW : ChebyshevPolynomial<pointwise::ChebyshevKind::W> {};

/// The same of 2 x - 1, which takes [0, 1] to [-1, 1].
template <pointwise::ChebyshevKind Kind>
struct ShiftedChebyshev {
  template <class T>
  HOST_DEVICE T operator()(T x, T n) const {
    return static_cast<T>(pointwise::chebyshev_polynomial<Kind, T>(2 * static_cast<double>(x) - 1, n));
  }
};
struct ShiftedChebyshevT : ShiftedChebyshev<pointwise::ChebyshevKind::T> {};
struct ShiftedChebyshevU : ShiftedChebyshev<pointwise::ChebyshevKind::U> {};
struct ShiftedChebyshevV : ShiftedChebyshev<pointwise::ChebyshevKind::V> {};
struct ShiftedChebyshevW : ShiftedChebyshev<pointwise::ChebyshevKind::W> {};

/// Physicists' Hermite polynomials.
struct HermiteH {
  template <class T>
  HOST_DEVICE T operator()(T argument, T n) const {
    const double x = argument;
    return static_cast<T>(pointwise::recurrence<T>(
        pointwise::degree(n), 1, 2 * x,
        [x](double k, double last, double before) { return 2 * (x * last - k * before); }));
  }
};

/// Probabilists' Hermite polynomials.
struct HermiteHe {
  template <class T>
  HOST_DEVICE T operator()(T argument, T n) const {
    const double x = argument;
    return static_cast<T>(pointwise::recurrence<T>(
        pointwise::degree(n), 1, x, [x](double k, double last, double before) { return x * last - k * before; }));
  }
};

struct LaguerreL {
  template <class T>
  HOST_DEVICE T operator()(T argument, T n) const {
    const double x = argument;
    const std::int64_t count = pointwise::degree(n);
    if (x == 0) {
      return T(count >= 0);
    }
    return static_cast<T>(pointwise::recurrence<T>(count, 1, 1 - x, [x](double k, double last, double before) {
      return ((2 * k + 1 - x) * last - k * before) / (k + 1);
    }));
  }
};

struct LegendreP {
  template <class T>
  HOST_DEVICE T operator()(T argument, T n) const {
    const double x = argument;
    const std::int64_t count = pointwise::degree(n);
    if ((x == 1 || x == -1) && count >= 0) {
      return T(x > 0 || count % 2 == 0 ? 1 : -1);
    }
    return static_cast<T>(pointwise::recurrence<T>(count, 1, x, [x](double k, double last, double before) {
      return ((2 * k + 1) * x * last - k * before) / (k + 1);
    }));
  }
};

} // namespace at::native
