#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/string_view.h>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <type_traits>

namespace c10::util {

/// A number for a type: a hash of its name, the same in every shared library.
struct type_index final {
  constexpr explicit type_index(uint64_t checksum = 0) : checksum_(checksum) {}
  constexpr uint64_t underlyingId() const {
    return checksum_;
  }
  friend constexpr bool operator==(type_index a, type_index b) noexcept {
    return a.checksum_ == b.checksum_;
  }
  friend constexpr bool operator!=(type_index a, type_index b) noexcept {
    return a.checksum_ != b.checksum_;
  }
  friend constexpr bool operator<(type_index a, type_index b) noexcept {
    return a.checksum_ < b.checksum_;
  }

 private:
  uint64_t checksum_;
};

namespace detail {

template <typename T>
constexpr std::string_view name_holder() {
  // "... name_holder() [with T = int; ...]" (GCC) or "... name_holder() [T = int]" (Clang).
  return __PRETTY_FUNCTION__;
}

template <typename T>
constexpr std::string_view extract_name() {
  const std::string_view text = name_holder<T>();
  const size_t begin = text.find("T = ") + 4;
  const size_t semicolon = text.find("; std::string_view", begin);
  const size_t end = semicolon != std::string_view::npos ? semicolon : text.rfind(']');
  return text.substr(begin, end - begin);
}

// FNV-1a, 64 bits.
constexpr uint64_t hash_name(std::string_view name) {
  uint64_t hash = 14695981039346656037ull;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  }
  return hash;
}

} // namespace detail

template <typename T>
constexpr std::string_view get_fully_qualified_type_name() noexcept {
  return detail::extract_name<T>();
}
template <typename T>
constexpr type_index get_type_index() {
  return type_index(detail::hash_name(get_fully_qualified_type_name<std::decay_t<T>>()));
}

} // namespace c10::util

namespace std {
template <>
struct hash<c10::util::type_index> {
  size_t operator()(c10::util::type_index x) const {
    return static_cast<size_t>(x.underlyingId());
  }
};
} // namespace std
