// Powers and roots.
#pragma once

#include <aten/native/pointwise/math.h>

namespace at::native {

namespace pointwise {

template <class T>
HOST_DEVICE inline T integer_power(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    if (exponent < T(0)) {
      // 1 / base^n, towards zero.
      if (base == T(1)) {
        return T(1);
      }
      if (base == T(-1)) {
        return (exponent & T(1)) != 0 ? T(-1) : T(1);
      }
      return T(0);
    }
  }
  T result = T(1);
  while (exponent != T(0)) {
    if ((exponent & T(1)) != 0) {
      result = mul(result, base);
    }
    base = mul(base, base);
    exponent = static_cast<T>(exponent >> 1);
  }
  return result;
}

// The number that is the same for all elements. Lanes beyond the last element hold zeros; the first is always in use.
template <class V>
HOST_DEVICE inline auto number_of(const V& x, int) -> decltype(x[0]) {
  return x[0];
}
template <class T>
HOST_DEVICE inline T number_of(const T& x, long) {
  return x;
}

} // namespace pointwise

struct Pow {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T base, T exponent) const {
    if constexpr (std::is_integral_v<T>) {
      return pointwise::integer_power(base, exponent);
    } else {
      using std::pow;
      return pow(base, exponent);
    }
  }
};

/// The exponent is a number, the same for all elements: small ones are products and roots.
struct PowScalar {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T base, T exponent) const {
    if constexpr (std::is_integral_v<T>) {
      return pointwise::integer_power(base, exponent);
    } else {
      using std::pow;
      using std::sqrt;
      const auto number = pointwise::number_of(exponent, 0);
      using Number = std::decay_t<decltype(number)>;
      if (number == Number(2)) {
        return base * base;
      }
      if (number == Number(3)) {
        return base * base * base;
      }
      if (number == Number(0.5)) {
        return sqrt(base);
      }
      if (number == Number(-1)) {
        return T(1) / base;
      }
      if (number == Number(-2)) {
        return T(1) / (base * base);
      }
      if (number == Number(-0.5)) {
        return T(1) / sqrt(base);
      }
      return pow(base, exponent);
    }
  }
};

struct Sqrt {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return std::sqrt(x);
  }
};

struct Rsqrt {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return T(1) / std::sqrt(x);
  }
};

} // namespace at::native
