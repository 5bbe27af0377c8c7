#pragma once

#include <type_traits>

namespace c10 {

/// The bytes of `source` as another type of the same size.
template <class To, class From>
std::enable_if_t<
    sizeof(To) == sizeof(From) && std::is_trivially_copyable_v<From> && std::is_trivially_copyable_v<To>,
    To>
bit_cast(const From& source) noexcept {
  To result;
  __builtin_memcpy(&result, &source, sizeof(To));
  return result;
}

} // namespace c10
