// Division of Python: quotients go down, remainders have the sign of the divisor.
#pragma once

#include <c10/util/Exception.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace torch::jit::ops {

/// Python's `//`. INT64_MIN // -1 wraps.
inline int64_t floor_divide_ints(int64_t a, int64_t b) {
  TORCH_CHECK(b != 0, "division by 0");
  if (b == -1) {
    return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
  }
  const int64_t quotient = a / b;
  return quotient - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}
inline double floor_divide_floats(double a, double b) {
  return std::floor(a / b);
}

/// Python's `%`.
template <class T>
T floor_remainder(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    TORCH_CHECK(b != 0, "integer division or modulo by zero");
    if (b == -1) {
      return 0;
    }
    const T rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  } else {
    // An infinite divisor gives NaN, as in libtorch and unlike in Python.
    return std::fmod(b + std::fmod(a, b), b);
  }
}

} // namespace torch::jit::ops
