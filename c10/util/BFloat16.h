#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/reduced_float_ops.h>
#include <c10/util/small_float.h>

#include <cstdint>
#include <iosfwd>
#include <limits>
#include <type_traits>

struct __nv_bfloat16;

namespace c10 {

namespace detail {

C10_HOST_DEVICE C10_ALWAYS_INLINE float f32_from_bits(uint16_t code) {
  return float_from_bits(static_cast<uint32_t>(code) << 16);
}
C10_HOST_DEVICE C10_ALWAYS_INLINE uint16_t bits_from_f32(float value) {
  return static_cast<uint16_t>(float_bits(value) >> 16);
}
/// Round to nearest, ties to even; every NaN becomes the quiet one.
C10_HOST_DEVICE C10_ALWAYS_INLINE uint16_t round_to_nearest_even(float value) {
  if (value != value) {
    return uint16_t{0x7FC0};
  }
  const uint32_t bits = float_bits(value);
  return static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

} // namespace detail

/// The upper half of a float, for storage: arithmetic is done in float.
struct alignas(2) BFloat16 {
  uint16_t x;

  struct from_bits_t {};
  C10_HOST_DEVICE static constexpr from_bits_t from_bits() {
    return from_bits_t();
  }

  BFloat16() = default;
  C10_HOST_DEVICE constexpr BFloat16(unsigned short bits, from_bits_t) : x(bits) {}
  C10_HOST_DEVICE C10_ALWAYS_INLINE_ATTRIBUTE BFloat16(float value) : x(detail::round_to_nearest_even(value)) {}
  C10_HOST_DEVICE C10_ALWAYS_INLINE_ATTRIBUTE operator float() const {
    return detail::f32_from_bits(x);
  }

  // CUDA's type, by bits. Templates, so that its header is needed only by those who convert.
  template <class B, std::enable_if_t<std::is_same_v<B, __nv_bfloat16>, int> = 0>
  C10_HOST_DEVICE BFloat16(const B& value) {
    static_assert(sizeof(B) == sizeof(x));
    __builtin_memcpy(&x, &value, sizeof(x));
  }
  template <class B, std::enable_if_t<std::is_same_v<B, __nv_bfloat16>, int> = 0>
  C10_HOST_DEVICE explicit operator B() const {
    B value;
    __builtin_memcpy(&value, &x, sizeof(x));
    return value;
  }
};

C10_REDUCED_FLOAT_OPERATORS(BFloat16)

} // namespace c10

C10_REDUCED_FLOAT_LIMITS(
    BFloat16,
    8,
    2,
    4,
    -125,
    -37,
    128,
    38,
    true,
    true,
    true,
    0x0080,
    0xFF7F,
    0x7F7F,
    0x3C00,
    0x3F00,
    0x7F80,
    0x7FC0,
    0x0001)
