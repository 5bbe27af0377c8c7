// What functors of pointwise operators share. Host and device; no host-only includes.
#pragma once

#include <c10/core/Scalar.h>
#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>
#include <c10/util/complex.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace at::native {

namespace pointwise {

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<c10::complex<T>> = true;

template <class T>
inline constexpr bool is_integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// Unsigned arithmetic of an integer type: overflow wraps, as tensors promise, where signed overflow would be undefined.
template <class T, bool Small = (sizeof(T) < 4)>
struct Wrapping {
  using type = std::make_unsigned_t<T>;
};
template <class T>
struct Wrapping<T, true> {
  using type = unsigned;
};
template <class T>
using wrapping = typename Wrapping<T>::type;

template <class T>
HOST_DEVICE inline T add(T a, T b) {
  if constexpr (is_integer<T>) {
    return static_cast<T>(static_cast<wrapping<T>>(a) + static_cast<wrapping<T>>(b));
  } else if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else {
    return a + b;
  }
}
template <class T>
HOST_DEVICE inline T sub(T a, T b) {
  if constexpr (is_integer<T>) {
    return static_cast<T>(static_cast<wrapping<T>>(a) - static_cast<wrapping<T>>(b));
  } else if constexpr (std::is_same_v<T, bool>) {
    return a != b;
  } else {
    return a - b;
  }
}
template <class T>
HOST_DEVICE inline T mul(T a, T b) {
  if constexpr (is_integer<T>) {
    return static_cast<T>(static_cast<wrapping<T>>(a) * static_cast<wrapping<T>>(b));
  } else if constexpr (std::is_same_v<T, bool>) {
    return a && b;
  } else {
    return a * b;
  }
}

/// One of two values; vectors have their own by argument-dependent lookup.
template <class T>
HOST_DEVICE inline T select(bool condition, T a, T b) {
  return condition ? a : b;
}

/// Of vectors a mask.
template <class T>
HOST_DEVICE inline auto is_nan(T x) {
  if constexpr (is_complex<T>) {
    return x.real() != x.real() || x.imag() != x.imag();
  } else if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return x != x;
  }
}

template <class T>
HOST_DEVICE inline bool is_inf(T x) {
  if constexpr (is_complex<T>) {
    return is_inf(x.real()) || is_inf(x.imag());
  } else if constexpr (std::is_floating_point_v<T>) {
    return x == std::numeric_limits<T>::infinity() || x == -std::numeric_limits<T>::infinity();
  } else {
    return false;
  }
}

/// Integer divisors are checked on the host; a device cannot throw and gives an unspecified quotient.
template <class T>
HOST_DEVICE inline void check_divisor(T b) {
#if !defined(__CUDA_ARCH__)
  TORCH_CHECK(b != T(0), "ZeroDivisionError");
#else
  static_cast<void>(b);
#endif
}

/// a / b and a % b towards zero. The one overflow, lowest / -1, traps on x86 and wraps here.
template <class T>
HOST_DEVICE inline T integer_quotient(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) {
      return sub(T(0), a);
    }
  }
  return static_cast<T>(a / b);
}
template <class T>
HOST_DEVICE inline T integer_remainder(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) {
      return T(0);
    }
  }
  return static_cast<T>(a % b);
}

} // namespace pointwise

} // namespace at::native
