#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/ArrayRef.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace c10 {

/// *out = a + b; true when the sum does not fit.
C10_ALWAYS_INLINE bool add_overflows(int64_t a, int64_t b, int64_t* out) {
  return __builtin_add_overflow(a, b, out);
}
C10_ALWAYS_INLINE bool add_overflows(uint64_t a, uint64_t b, uint64_t* out) {
  return __builtin_add_overflow(a, b, out);
}
/// *out = a - b; true when the difference does not fit.
C10_ALWAYS_INLINE bool sub_overflows(int64_t a, int64_t b, int64_t* out) {
  return __builtin_sub_overflow(a, b, out);
}
C10_ALWAYS_INLINE bool sub_overflows(uint64_t a, uint64_t b, uint64_t* out) {
  return __builtin_sub_overflow(a, b, out);
}
/// *out = a * b; true when the product does not fit.
C10_ALWAYS_INLINE bool mul_overflows(int64_t a, int64_t b, int64_t* out) {
  return __builtin_mul_overflow(a, b, out);
}
C10_ALWAYS_INLINE bool mul_overflows(uint64_t a, uint64_t b, uint64_t* out) {
  return __builtin_mul_overflow(a, b, out);
}

namespace impl {

// The product of sizes, where an empty tensor's may exceed 64 bits: such a product is compared with nothing that
// matters.
template <typename T>
inline T multiply_wrapping(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, int64_t>) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}

} // namespace impl

/// *out = the product of all values in [first, last); true when it does not fit.
template <typename It>
bool safe_multiplies_u64(It first, It last, uint64_t* out) {
  uint64_t product = 1;
  bool overflow = false;
  for (; first != last; ++first) {
    overflow |= mul_overflows(product, static_cast<uint64_t>(*first), &product);
  }
  *out = product;
  return overflow;
}
template <typename Container>
bool safe_multiplies_u64(const Container& values, uint64_t* out) {
  return safe_multiplies_u64(values.begin(), values.end(), out);
}

} // namespace c10
