#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/reduced_float_ops.h>
#include <c10/util/small_float.h>

#include <cstdint>
#include <iosfwd>
#include <limits>

namespace c10 {

/// 8-bit float with 5 exponent and 2 mantissa bits, infinities and NaNs; largest number 57344.
/// For storage: arithmetic is done in float.
struct alignas(1) Float8_e5m2 {
  using Format = detail::SmallFloat<5, 2, 15, detail::SmallFloatKind::kIeee>;

  uint8_t x;

  struct from_bits_t {};
  C10_HOST_DEVICE static constexpr from_bits_t from_bits() {
    return from_bits_t();
  }

  Float8_e5m2() = default;
  C10_HOST_DEVICE constexpr Float8_e5m2(uint8_t bits, from_bits_t) : x(bits) {}
  C10_HOST_DEVICE C10_ALWAYS_INLINE_ATTRIBUTE Float8_e5m2(float value)
      : x(static_cast<uint8_t>(Format::from_float(value))) {}
  C10_HOST_DEVICE C10_ALWAYS_INLINE_ATTRIBUTE operator float() const {
    return Format::to_float(x);
  }
  C10_HOST_DEVICE bool isnan() const {
    return (x & 0b01111111) > 0b01111100;
  }
  C10_HOST_DEVICE bool isinf() const {
    return (x & 0b01111111) == 0b01111100;
  }
};

C10_REDUCED_FLOAT_OPERATORS(Float8_e5m2)

} // namespace c10

C10_REDUCED_FLOAT_LIMITS(
    Float8_e5m2, 3, 0, 2, -13, -4, 16, 4, false, true, false, 0x04, 0xFB, 0x7B, 0x34, 0x38, 0x7C, 0x7F, 0x01)
