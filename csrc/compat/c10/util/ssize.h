#pragma once

#include <c10/util/Exception.h>

#include <cstddef>
#include <type_traits>

namespace c10 {

/// The size of a container as a signed number.
template <class C>
constexpr auto ssize(const C& c) -> std::common_type_t<std::ptrdiff_t, std::make_signed_t<decltype(c.size())>> {
  return static_cast<std::common_type_t<std::ptrdiff_t, std::make_signed_t<decltype(c.size())>>>(c.size());
}
template <typename T, std::ptrdiff_t N>
constexpr auto ssize(const T (&)[N]) noexcept -> std::ptrdiff_t {
  return N;
}

} // namespace c10
