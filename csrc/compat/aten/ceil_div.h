#pragma once

#include <c10/macros/Macros.h>

namespace at {

/// Ceil of a / b for positive integers.
template <typename T>
C10_HOST_DEVICE constexpr T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}
/// `a` rounded up to a multiple of `b`.
template <typename T>
C10_HOST_DEVICE constexpr T round_up(T a, T b) {
  return ceil_div(a, b) * b;
}

} // namespace at
