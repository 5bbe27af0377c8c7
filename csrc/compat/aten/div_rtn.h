#pragma once

#include <type_traits>

/// x / y rounded towards minus infinity.
template <typename T>
inline T div_rtn(T x, T y) {
  static_assert(std::is_integral_v<T>, "div_rtn is for integers");
  const T quotient = x / y;
  return x % y != 0 && (x < 0) != (y < 0) ? quotient - 1 : quotient;
}
