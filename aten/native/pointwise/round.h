// Rounding to integers. Integers are integers already.
#pragma once

#include <aten/native/pointwise/math.h>

namespace at::native {

struct Floor {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x;
    } else {
      return std::floor(x);
    }
  }
};

struct Ceil {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x;
    } else {
      return std::ceil(x);
    }
  }
};

struct Trunc {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x;
    } else {
      return std::trunc(x);
    }
  }
};

/// Halves to even.
struct Round {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x;
    } else {
      return std::nearbyint(x);
    }
  }
};

template <class T>
struct RoundDecimals {
  explicit RoundDecimals(std::int64_t decimals)
      : power(std::pow(T(10), std::abs(static_cast<T>(decimals)))), divide(decimals < 0) {}
  HOST_DEVICE T operator()(T x) const {
    return divide ? std::nearbyint(x / power) * power : std::nearbyint(x * power) / power;
  }
  T power;
  bool divide;
};

struct Frac {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return x - std::trunc(x);
  }
};

} // namespace at::native
