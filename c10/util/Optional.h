#pragma once

#include <optional>
#include <type_traits>
#include <utility>

namespace c10 {

using std::bad_optional_access;
using std::in_place;
using std::in_place_t;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;

/// The value, or what `make()` returns.
template <class T, class F>
constexpr T value_or_else(const std::optional<T>& value, F&& make) {
  static_assert(std::is_convertible_v<std::invoke_result_t<F>, T>, "make() must return something convertible to T");
  return value.has_value() ? *value : static_cast<T>(std::forward<F>(make)());
}
template <class T, class F>
constexpr T value_or_else(std::optional<T>&& value, F&& make) {
  static_assert(std::is_convertible_v<std::invoke_result_t<F>, T>, "make() must return something convertible to T");
  return value.has_value() ? std::move(*value) : static_cast<T>(std::forward<F>(make)());
}

} // namespace c10
