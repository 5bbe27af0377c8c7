#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/reduced_float_ops.h>
#include <c10/util/small_float.h>

#include <cstdint>
#include <iosfwd>
#include <limits>

namespace c10 {

/// 8-bit float with 4 exponent and 3 mantissa bits, no infinity, one NaN; largest number 448.
/// For storage: arithmetic is done in float.
struct alignas(1) Float8_e4m3fn {
  using Format = detail::SmallFloat<4, 3, 7, detail::SmallFloatKind::kFiniteNan>;

  uint8_t x;

  struct from_bits_t {};
  C10_HOST_DEVICE static constexpr from_bits_t from_bits() {
    return from_bits_t();
  }

  Float8_e4m3fn() = default;
  C10_HOST_DEVICE constexpr Float8_e4m3fn(uint8_t bits, from_bits_t) : x(bits) {}
  C10_HOST_DEVICE C10_ALWAYS_INLINE_ATTRIBUTE Float8_e4m3fn(float value)
      : x(static_cast<uint8_t>(Format::from_float(value))) {}
  C10_HOST_DEVICE C10_ALWAYS_INLINE_ATTRIBUTE operator float() const {
    return Format::to_float(x);
  }
  C10_HOST_DEVICE bool isnan() const {
    return (x & 0b01111111) == 0b01111111;
  }
  /// The format has no infinities.
  C10_HOST_DEVICE bool isinf() const {
    return false;
  }
};

C10_REDUCED_FLOAT_OPERATORS(Float8_e4m3fn)

} // namespace c10

C10_REDUCED_FLOAT_LIMITS(
    Float8_e4m3fn, 4, 0, 3, -5, -1, 8, 2, false, false, false, 0x08, 0xFE, 0x7E, 0x20, 0x30, 0x7F, 0x7F, 0x01)
