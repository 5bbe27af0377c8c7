#pragma once

#include <c10/macros/Macros.h>

#include <limits>
#include <type_traits>

namespace c10 {

/// Whether x < 0; without a warning for unsigned types.
template <typename T>
constexpr bool is_negative(const T& x) {
  if constexpr (std::is_unsigned_v<T>) {
    return false;
  } else {
    return x < T(0);
  }
}
/// -1, 0 or 1.
template <typename T>
constexpr int signum(const T& x) {
  return (T(0) < x) - static_cast<int>(is_negative(x));
}
template <typename T, typename U>
constexpr bool signs_differ(const T& a, const U& b) {
  return is_negative(a) != is_negative(b);
}
/// Whether x is greater than the largest Limit.
template <typename Limit, typename T>
constexpr bool greater_than_max(const T& x) {
  constexpr bool can_be_true = std::numeric_limits<T>::digits > std::numeric_limits<Limit>::digits;
  if constexpr (can_be_true) {
    return x > static_cast<T>(std::numeric_limits<Limit>::max());
  } else {
    return false;
  }
}
/// Whether x is less than the lowest Limit.
template <typename Limit, typename T>
constexpr bool less_than_lowest(const T& x) {
  if constexpr (std::is_unsigned_v<T>) {
    return false;
  } else if constexpr (std::is_unsigned_v<Limit>) {
    return x < T(0);
  } else if constexpr (std::numeric_limits<T>::digits > std::numeric_limits<Limit>::digits) {
    return x < static_cast<T>(std::numeric_limits<Limit>::lowest());
  } else {
    return false;
  }
}

} // namespace c10
