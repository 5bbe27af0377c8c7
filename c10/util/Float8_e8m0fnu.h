#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/small_float.h>

#include <cstdint>
#include <iosfwd>
#include <limits>

namespace c10 {

/// A power of two, 2^(x - 127); no sign, no zero, 255 is NaN. Used for the scales of blocks.
struct alignas(1) Float8_e8m0fnu {
  uint8_t x;

  struct from_bits_t {};
  C10_HOST_DEVICE static constexpr from_bits_t from_bits() {
    return from_bits_t();
  }

  Float8_e8m0fnu() = default;
  C10_HOST_DEVICE constexpr Float8_e8m0fnu(uint8_t bits, from_bits_t) : x(bits) {}
  /// Rounds to the nearest power of two of the same exponent range, ties to even; the sign is lost.
  C10_HOST_DEVICE C10_ALWAYS_INLINE_ATTRIBUTE Float8_e8m0fnu(float value) : x(from_float(value)) {}
  C10_HOST_DEVICE C10_ALWAYS_INLINE_ATTRIBUTE operator float() const {
    if (x == 0) {
      return detail::float_from_bits(0x00400000u); // 2^-127, a subnormal
    }
    return detail::float_from_bits(x == 0xFF ? 0x7f800001u : static_cast<uint32_t>(x) << 23);
  }
  C10_HOST_DEVICE bool isnan() const {
    return x == 0xFF;
  }

 private:
  C10_HOST_DEVICE C10_ALWAYS_INLINE static uint8_t from_float(float value) {
    const uint32_t bits = detail::float_bits(value);
    const uint32_t exponent = (bits >> 23) & 0xFFu;
    if (exponent == 0xFFu) {
      return 0xFF;
    }
    // Round half up in the mantissa; exactly half goes to the even, that is the upper, neighbour unless the exponent is
    // 0.
    const bool guard = (bits & 0x00400000u) != 0;
    const bool rest = (bits & 0x003fffffu) != 0;
    const bool up = guard && (exponent > 0 || rest);
    return static_cast<uint8_t>(exponent + (up ? 1u : 0u));
  }
};

C10_API std::ostream& operator<<(std::ostream& out, const Float8_e8m0fnu& value);

} // namespace c10

namespace std {
template <>
class numeric_limits<c10::Float8_e8m0fnu> {
 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = false;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = false;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = false;
  static constexpr bool has_denorm = false;
  static constexpr bool is_iec559 = false;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr int digits = 1;
  static constexpr int digits10 = 0;
  static constexpr int max_digits10 = 1;
  static constexpr int radix = 2;
  static constexpr int min_exponent = -126;
  static constexpr int min_exponent10 = -38;
  static constexpr int max_exponent = 128;
  static constexpr int max_exponent10 = 38;
  static constexpr c10::Float8_e8m0fnu min() {
    return c10::Float8_e8m0fnu(0x00, c10::Float8_e8m0fnu::from_bits());
  }
  static constexpr c10::Float8_e8m0fnu lowest() {
    return c10::Float8_e8m0fnu(0x00, c10::Float8_e8m0fnu::from_bits());
  }
  static constexpr c10::Float8_e8m0fnu max() {
    return c10::Float8_e8m0fnu(0xFE, c10::Float8_e8m0fnu::from_bits());
  }
  static constexpr c10::Float8_e8m0fnu epsilon() {
    return c10::Float8_e8m0fnu(0x7F, c10::Float8_e8m0fnu::from_bits());
  }
  static constexpr c10::Float8_e8m0fnu quiet_NaN() {
    return c10::Float8_e8m0fnu(0xFF, c10::Float8_e8m0fnu::from_bits());
  }
};
} // namespace std
