#pragma once

#include <c10/macros/Macros.h>
#include <csrc/compat/c10/util/TypeSafeSignMath.h>

#include <cmath>
#include <type_traits>

namespace c10 {

/// floor(a / b) as Python's float // computes it: through fmod, so that the result is the one of the exact quotient.
template <typename T>
C10_HOST_DEVICE inline T div_floor_floating(T a, T b) {
  if (b == T(0)) {
    return a / b;
  }
  const T mod = std::fmod(a, b);
  T div = (a - mod) / b;
  if (mod != T(0) && (b < T(0)) != (mod < T(0))) {
    div -= T(1);
  }
  if (div == T(0)) {
    return std::copysign(T(0), a / b);
  }
  const T floor_div = std::floor(div);
  return div - floor_div > T(0.5) ? floor_div + T(1) : floor_div;
}

/// floor(a / b) of integers; b must not be 0.
template <typename T>
C10_HOST_DEVICE inline T div_floor_integer(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if ((a < 0) != (b < 0)) {
      const auto quotient = a / b;
      return a % b != 0 ? static_cast<T>(quotient - 1) : static_cast<T>(quotient);
    }
  }
  return a / b;
}

/// a - b * floor(a / b), with the sign of b; b must not be 0 for integers.
template <typename T>
C10_HOST_DEVICE inline T div_mod(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    const T mod = a % b;
    return mod != 0 && signs_differ(mod, b) ? static_cast<T>(mod + b) : mod;
  } else {
    const T mod = std::fmod(a, b);
    return mod != T(0) && (b < T(0)) != (mod < T(0)) ? mod + b : mod;
  }
}

} // namespace c10
