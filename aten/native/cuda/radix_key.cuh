// Radix-sort keys: elements of any dtype encoded as unsigned words in their order.
#pragma once

#include <aten/native/cuda/memory_access.cuh>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace at::native::cuda {

template <int Size>
struct WordOf;
template <>
struct WordOf<1> {
  using type = std::uint8_t;
};
template <>
struct WordOf<2> {
  using type = std::uint16_t;
};
template <>
struct WordOf<4> {
  using type = std::uint32_t;
};
template <>
struct WordOf<8> {
  using type = std::uint64_t;
};

/// A word whose order as an unsigned number is the order of x. NaN is the largest.
template <class T>
__device__ typename WordOf<sizeof(T)>::type ordered_word(T x) {
  using Word = typename WordOf<sizeof(T)>::type;
  constexpr Word kSign = static_cast<Word>(Word(1) << (8 * sizeof(T) - 1));
  if constexpr (std::is_integral_v<T>) {
    return std::is_signed_v<T> ? static_cast<Word>(static_cast<Word>(x) ^ kSign) : static_cast<Word>(x);
  } else {
    const auto wide = widen(x);
    if (wide != wide) {
      return static_cast<Word>(~Word(0));
    }
    Word bits;
    memcpy(&bits, &x, sizeof(bits));
    if (wide == 0) {
      bits = 0; // both zeros
    }
    return static_cast<Word>((bits & kSign) != 0 ? ~bits : bits | kSign);
  }
}

/// call(dtype, f) runs f(T()) for the C++ type T of the dtype; false where it is none of these.
template <class... Ts>
struct KeyTypes {
  template <class F>
  static bool call(c10::ScalarType dtype, F f) {
    return ((dtype == c10::CppTypeToScalarType<Ts>::value && (f(Ts()), true)) || ...);
  }
};
/// What can be sorted.
using SortKeys = KeyTypes<
    bool,
    std::uint8_t,
    std::int8_t,
    std::int16_t,
    std::int32_t,
    std::int64_t,
    std::uint16_t,
    std::uint32_t,
    std::uint64_t,
    c10::Half,
    c10::BFloat16,
    float,
    double>;

} // namespace at::native::cuda
