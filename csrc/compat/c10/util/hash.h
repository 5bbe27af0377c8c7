#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/complex_type.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace c10 {

/// Mixes `value` into `seed`.
inline size_t hash_combine(size_t seed, size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15ull + (seed << 6u) + (seed >> 2u));
}

template <class T>
struct hash;

namespace _hash_detail {

template <class T, class = void>
struct HasStdHash : std::false_type {};
template <class T>
struct HasStdHash<T, std::void_t<decltype(std::hash<T>()(std::declval<const T&>()))>> : std::true_type {};

template <class T, class = void>
struct HasOwnHash : std::false_type {};
template <class T>
struct HasOwnHash<T, std::void_t<decltype(T::hash(std::declval<const T&>()))>> : std::true_type {};

template <class T>
size_t simple_get_hash(const T& value) {
  if constexpr (HasOwnHash<T>::value) {
    return T::hash(value);
  } else if constexpr (std::is_enum_v<T>) {
    return std::hash<std::underlying_type_t<T>>()(static_cast<std::underlying_type_t<T>>(value));
  } else {
    static_assert(HasStdHash<T>::value, "give the type a static member hash(const T&) or a std::hash");
    return std::hash<T>()(value);
  }
}

template <class Range>
size_t range_hash(const Range& range) {
  size_t seed = 0;
  for (const auto& element : range) {
    seed = hash_combine(seed, c10::hash<std::decay_t<decltype(element)>>()(element));
  }
  return seed;
}

} // namespace _hash_detail

/// Like std::hash, and for tuples, pairs, optionals, vectors, ArrayRef and types with a static member `hash` too.
template <class T>
struct hash {
  size_t operator()(const T& value) const {
    return _hash_detail::simple_get_hash(value);
  }
};
template <class... Types>
struct hash<std::tuple<Types...>> {
  size_t operator()(const std::tuple<Types...>& tuple) const {
    return std::apply(
        [](const Types&... values) {
          size_t seed = 0;
          ((seed = hash_combine(seed, c10::hash<Types>()(values))), ...);
          return seed;
        },
        tuple);
  }
};
template <typename A, typename B>
struct hash<std::pair<A, B>> {
  size_t operator()(const std::pair<A, B>& pair) const {
    return hash_combine(c10::hash<A>()(pair.first), c10::hash<B>()(pair.second));
  }
};
template <typename T>
struct hash<std::optional<T>> {
  size_t operator()(const std::optional<T>& value) const {
    return value.has_value() ? hash_combine(1, c10::hash<T>()(*value)) : 0;
  }
};
template <typename T>
struct hash<ArrayRef<T>> {
  size_t operator()(ArrayRef<T> values) const {
    return _hash_detail::range_hash(values);
  }
};
template <typename T>
struct hash<std::vector<T>> {
  size_t operator()(const std::vector<T>& values) const {
    return _hash_detail::range_hash(values);
  }
};
template <typename T>
struct hash<c10::complex<T>> {
  size_t operator()(const c10::complex<T>& value) const {
    return hash_combine(c10::hash<T>()(value.real()), c10::hash<T>()(value.imag()));
  }
};

/// The hash of several values together.
template <typename... Types>
size_t get_hash(const Types&... args) {
  size_t seed = 0;
  ((seed = hash_combine(seed, c10::hash<Types>()(args))), ...);
  return seed;
}

} // namespace c10
