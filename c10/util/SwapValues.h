// std::swap and std::exchange for members of public headers.
#pragma once

#include <utility>

namespace c10::detail {

/// std::swap for types that are known to move: without the checks by which std::swap takes part in overload resolution,
/// which cost every program that includes the header a tenth of a megabyte and 1 ms for each type.
template <class T>
constexpr void swap_values(T& a, T& b) noexcept {
  T old(std::move(a));
  a = std::move(b);
  b = std::move(old);
}

/// std::exchange, as cheap.
template <class T>
[[nodiscard]] constexpr T exchange_value(T& place, T value) noexcept {
  T old(std::move(place));
  place = std::move(value);
  return old;
}

} // namespace c10::detail
