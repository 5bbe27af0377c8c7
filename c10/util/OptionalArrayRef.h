#pragma once

#include <c10/util/SwapValues.h>
#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>

namespace c10 {

/// An optional ArrayRef that is also made from anything an ArrayRef is made from, such as one value or a braced list.
template <typename T>
class OptionalArrayRef final {
 public:
  using value_type = ArrayRef<T>;

  constexpr OptionalArrayRef() noexcept = default;
  constexpr OptionalArrayRef(std::nullopt_t) noexcept {}
  OptionalArrayRef(const OptionalArrayRef&) = default;
  OptionalArrayRef(OptionalArrayRef&&) = default;
  constexpr OptionalArrayRef(const std::optional<ArrayRef<T>>& other) noexcept : wrapped_(other) {}

  template <
      typename U,
      std::enable_if_t<
          !std::is_same_v<std::decay_t<U>, OptionalArrayRef> && !std::is_same_v<std::decay_t<U>, std::in_place_t> &&
              std::is_convertible_v<U&&, ArrayRef<T>> && !std::is_convertible_v<U&&, T>,
          bool> = false>
  constexpr OptionalArrayRef(U&& value) noexcept(std::is_nothrow_constructible_v<ArrayRef<T>, U&&>)
      : wrapped_(ArrayRef<T>(std::forward<U>(value))) {}
  constexpr OptionalArrayRef(const T& value) noexcept : wrapped_(ArrayRef<T>(value)) {}

  /// From an optional container, such as std::optional<std::vector<T>>; refers into it.
  template <
      typename U,
      std::enable_if_t<
          std::is_convertible_v<const U&, ArrayRef<T>> && !std::is_same_v<U, ArrayRef<T>> && !std::is_arithmetic_v<U>,
          bool> = false>
  constexpr OptionalArrayRef(const std::optional<U>& other)
      : wrapped_(other.has_value() ? std::optional<ArrayRef<T>>(ArrayRef<T>(*other)) : std::nullopt) {}

  template <typename... Args>
  constexpr explicit OptionalArrayRef(std::in_place_t, Args&&... args)
      : wrapped_(ArrayRef<T>(std::forward<Args>(args)...)) {}
  constexpr OptionalArrayRef(const std::initializer_list<T>& list) : wrapped_(ArrayRef<T>(list)) {}

  OptionalArrayRef& operator=(const OptionalArrayRef&) = default;
  OptionalArrayRef& operator=(OptionalArrayRef&&) = default;
  constexpr OptionalArrayRef& operator=(std::nullopt_t) noexcept {
    wrapped_ = std::nullopt;
    return *this;
  }
  /// From anything that an ArrayRef is assigned from, such as a vector; refers into it.
  template <
      typename U = ArrayRef<T>,
      typename = std::enable_if_t<
          !std::is_same_v<std::decay_t<U>, OptionalArrayRef> && std::is_constructible_v<ArrayRef<T>, U&&> &&
          std::is_assignable_v<ArrayRef<T>&, U&&>>>
  constexpr OptionalArrayRef& operator=(U&& value) noexcept(std::is_nothrow_constructible_v<ArrayRef<T>, U&&>) {
    wrapped_ = ArrayRef<T>(std::forward<U>(value));
    return *this;
  }

  constexpr ArrayRef<T>* operator->() noexcept {
    return &*wrapped_;
  }
  constexpr const ArrayRef<T>* operator->() const noexcept {
    return &*wrapped_;
  }
  constexpr ArrayRef<T>& operator*() & noexcept {
    return *wrapped_;
  }
  constexpr const ArrayRef<T>& operator*() const& noexcept {
    return *wrapped_;
  }
  constexpr ArrayRef<T>&& operator*() && noexcept {
    return std::move(*wrapped_);
  }
  constexpr explicit operator bool() const noexcept {
    return wrapped_.has_value();
  }
  constexpr bool has_value() const noexcept {
    return wrapped_.has_value();
  }
  constexpr ArrayRef<T>& value() & {
    return wrapped_.value();
  }
  constexpr const ArrayRef<T>& value() const& {
    return wrapped_.value();
  }
  constexpr ArrayRef<T>&& value() && {
    return std::move(wrapped_).value();
  }
  template <typename U>
  constexpr ArrayRef<T> value_or(U&& fallback) const {
    return wrapped_.has_value() ? *wrapped_ : ArrayRef<T>(std::forward<U>(fallback));
  }
  constexpr operator std::optional<ArrayRef<T>>() const {
    return wrapped_;
  }

  constexpr void swap(OptionalArrayRef& other) noexcept {
    detail::swap_values(wrapped_, other.wrapped_);
  }
  constexpr void reset() noexcept {
    wrapped_.reset();
  }
  template <typename... Args>
  constexpr ArrayRef<T>& emplace(Args&&... args) {
    return wrapped_.emplace(std::forward<Args>(args)...);
  }

 private:
  std::optional<ArrayRef<T>> wrapped_;
};

using OptionalIntArrayRef = OptionalArrayRef<int64_t>;

inline bool operator==(const OptionalIntArrayRef& a, const IntArrayRef& b) {
  return a.has_value() && *a == b;
}
inline bool operator==(const IntArrayRef& a, const OptionalIntArrayRef& b) {
  return b == a;
}

} // namespace c10
