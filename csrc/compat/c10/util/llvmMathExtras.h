#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

// Bit counting and powers of two, under the names LLVM gave them.

namespace c10::llvm {

enum ZeroBehavior { ZB_Undefined, ZB_Max, ZB_Width };

template <typename T>
constexpr unsigned countTrailingZeros(T value, ZeroBehavior = ZB_Width) {
  static_assert(std::is_unsigned_v<T>, "bits are counted in unsigned types");
  return value == 0 ? std::numeric_limits<T>::digits : static_cast<unsigned>(__builtin_ctzll(value));
}
template <typename T>
constexpr unsigned countLeadingZeros(T value, ZeroBehavior = ZB_Width) {
  static_assert(std::is_unsigned_v<T>, "bits are counted in unsigned types");
  return value == 0 ? std::numeric_limits<T>::digits
                    : static_cast<unsigned>(__builtin_clzll(value)) - (64 - std::numeric_limits<T>::digits);
}
template <typename T>
constexpr unsigned countPopulation(T value) {
  static_assert(std::is_unsigned_v<T>, "bits are counted in unsigned types");
  return static_cast<unsigned>(__builtin_popcountll(value));
}
template <typename T>
constexpr T findFirstSet(T value, ZeroBehavior behavior = ZB_Max) {
  return behavior == ZB_Max && value == 0 ? std::numeric_limits<T>::max() : countTrailingZeros(value);
}
constexpr bool isPowerOf2_32(uint32_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}
constexpr bool isPowerOf2_64(uint64_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}
/// Floor of the logarithm; -1 for 0.
constexpr unsigned Log2_32(uint32_t value) {
  return 31 - countLeadingZeros(value);
}
constexpr unsigned Log2_64(uint64_t value) {
  return 63 - countLeadingZeros(value);
}
/// Ceiling of the logarithm; 32 or 64 for 0.
constexpr unsigned Log2_32_Ceil(uint32_t value) {
  return 32 - countLeadingZeros(value - 1);
}
constexpr unsigned Log2_64_Ceil(uint64_t value) {
  return 64 - countLeadingZeros(value - 1);
}
/// The smallest power of two greater than `value`.
constexpr uint64_t NextPowerOf2(uint64_t value) {
  return value == UINT64_MAX ? 0 : uint64_t{1} << (64 - countLeadingZeros(value));
}
/// The smallest power of two not less than `value`; 0 for 0.
constexpr uint64_t PowerOf2Ceil(uint64_t value) {
  return value == 0 ? 0 : NextPowerOf2(value - 1);
}
/// The largest power of two not greater than `value`; 0 for 0.
constexpr uint64_t PowerOf2Floor(uint64_t value) {
  return value == 0 ? 0 : uint64_t{1} << Log2_64(value);
}
template <typename T, typename U>
constexpr auto divideCeil(T numerator, U denominator) {
  return (numerator + denominator - 1) / denominator;
}
constexpr uint64_t alignTo(uint64_t value, uint64_t align) {
  return (value + align - 1) / align * align;
}

} // namespace c10::llvm
