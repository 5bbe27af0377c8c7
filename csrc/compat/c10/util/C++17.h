#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

// Names that older code uses for things the standard library has by now.

namespace c10 {

template <class T, class... Args>
std::unique_ptr<T> make_unique(Args&&... args) {
  return std::make_unique<T>(std::forward<Args>(args)...);
}
using std::clamp;

namespace guts {

template <class... B>
using conjunction = std::conjunction<B...>;
template <class... B>
using disjunction = std::disjunction<B...>;
template <bool B>
using bool_constant = std::bool_constant<B>;
template <class T>
using negation = std::negation<T>;
template <class... T>
using void_t = std::void_t<T...>;
using std::make_unique;
using std::to_string;

template <typename Base, typename Child, typename... Args>
std::enable_if_t<
    !std::is_array_v<Base> && !std::is_array_v<Child> && std::is_base_of_v<Base, Child>,
    std::unique_ptr<Base>>
make_unique_base(Args&&... args) {
  return std::unique_ptr<Base>(new Child(std::forward<Args>(args)...));
}

template <class F, class Tuple>
constexpr decltype(auto) apply(F&& f, Tuple&& t) {
  return std::apply(std::forward<F>(f), std::forward<Tuple>(t));
}
template <class F, class... Args>
constexpr auto invoke(F&& f, Args&&... args) {
  return std::invoke(std::forward<F>(f), std::forward<Args>(args)...);
}

namespace detail {
struct _identity final {
  template <class T>
  using type_identity = T;
  template <class T>
  constexpr T&& operator()(T&& arg) const {
    return std::forward<T>(arg);
  }
};
template <class Func, class Enable = void>
struct function_takes_identity_argument : std::false_type {};
template <class Func>
struct function_takes_identity_argument<Func, std::void_t<decltype(std::declval<Func>()(_identity()))>>
    : std::true_type {};
} // namespace detail

/// Calls the first or the second callable, chosen at compile time; each is given an identity function to make its body
/// dependent.
template <bool Condition, class ThenCallback, class ElseCallback>
constexpr decltype(auto) if_constexpr(ThenCallback&& then_callback, ElseCallback&& else_callback) {
  if constexpr (Condition) {
    if constexpr (detail::function_takes_identity_argument<ThenCallback>::value) {
      return std::forward<ThenCallback>(then_callback)(detail::_identity());
    } else {
      return std::forward<ThenCallback>(then_callback)();
    }
  } else {
    if constexpr (detail::function_takes_identity_argument<ElseCallback>::value) {
      return std::forward<ElseCallback>(else_callback)(detail::_identity());
    } else {
      return std::forward<ElseCallback>(else_callback)();
    }
  }
}
template <bool Condition, class ThenCallback>
constexpr decltype(auto) if_constexpr(ThenCallback&& then_callback) {
  return if_constexpr<Condition>(std::forward<ThenCallback>(then_callback), [](auto) {});
}

} // namespace guts
} // namespace c10
