#pragma once

#include <c10/macros/Macros.h>

#include <cstdint>

// Conversions between float and floating-point formats narrower than it: one body for half, and the 8-bit formats.
// All are always_inline: kernels are compiled for several instruction sets, and a shared out-of-line copy of an inline
// function could be the one for a CPU we do not run on.

namespace c10::detail {

C10_HOST_DEVICE C10_ALWAYS_INLINE uint32_t float_bits(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  return bits;
}
C10_HOST_DEVICE C10_ALWAYS_INLINE float float_from_bits(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}

/// What the highest exponent means.
enum class SmallFloatKind {
  kIeee, // infinities and NaNs
  kFiniteNan, // numbers, all ones is NaN ("fn")
  kUnsignedZero // numbers; NaN takes the place of minus zero ("fnuz")
};

/// A format of one sign bit, `Exponent` and `Mantissa` bits; value 2^(e - Bias) * 1.m, subnormals for e = 0.
template <int Exponent, int Mantissa, int Bias, SmallFloatKind Kind>
struct SmallFloat {
  static constexpr int kBits = 1 + Exponent + Mantissa;
  static constexpr uint32_t kSign = 1u << (kBits - 1);
  static constexpr uint32_t kMagnitude = kSign - 1;
  static constexpr uint32_t kExponentOnes = ((1u << Exponent) - 1) << Mantissa;
  static constexpr int kShift = 23 - Mantissa;
  /// The first code above the finite numbers: infinity, or NaN, or one past the largest code.
  static constexpr uint32_t kAboveMax =
      Kind == SmallFloatKind::kIeee ? kExponentOnes : (Kind == SmallFloatKind::kFiniteNan ? kMagnitude : kSign);
  /// What a NaN becomes, without sign.
  static constexpr uint32_t kNan = Kind == SmallFloatKind::kIeee ? (kExponentOnes | (1u << (Mantissa - 1))) : kAboveMax;

  C10_HOST_DEVICE C10_ALWAYS_INLINE static float to_float(uint32_t code) {
    if (Kind == SmallFloatKind::kUnsignedZero && code == kSign) {
      return float_from_bits(0x7fc00000u);
    }
    const uint32_t sign = (code & kSign) << (32 - kBits);
    const uint32_t magnitude = code & kMagnitude;
    if (Kind == SmallFloatKind::kIeee && magnitude >= kExponentOnes) {
      const uint32_t quiet = magnitude > kExponentOnes ? 0x00400000u : 0u;
      return float_from_bits(sign | 0x7f800000u | quiet | ((magnitude & ((1u << Mantissa) - 1)) << kShift));
    }
    if (Kind == SmallFloatKind::kFiniteNan && magnitude == kMagnitude) {
      return float_from_bits(sign | 0x7fc00000u);
    }
    if (magnitude < (1u << Mantissa)) {
      // Subnormal: a small integer times the smallest number; exact, and no float subnormal is touched on the way.
      const float smallest = float_from_bits(static_cast<uint32_t>(127 + 1 - Bias - Mantissa) << 23);
      return float_from_bits(float_bits(static_cast<float>(magnitude) * smallest) | sign);
    }
    return float_from_bits(sign | ((magnitude << kShift) + (static_cast<uint32_t>(127 - Bias) << 23)));
  }

  /// Round to nearest, ties to even. What is too big becomes infinity or, where there is none, NaN.
  C10_HOST_DEVICE C10_ALWAYS_INLINE static uint32_t from_float(float value) {
    const uint32_t bits = float_bits(value);
    const uint32_t sign = (bits >> (32 - kBits)) & kSign;
    uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
      return Kind == SmallFloatKind::kUnsignedZero ? kSign : (sign | kNan);
    }
    uint32_t code;
    if (magnitude < (static_cast<uint32_t>(127 + 1 - Bias) << 23)) {
      // Subnormal or zero: adding a number whose last bit is worth the smallest subnormal lets the FPU round.
      const uint32_t anchor = static_cast<uint32_t>(127 + 1 - Bias - Mantissa + 23) << 23;
      code = float_bits(float_from_bits(magnitude) + float_from_bits(anchor)) - anchor;
    } else {
      const uint32_t odd = (magnitude >> kShift) & 1u;
      magnitude += (1u << (kShift - 1)) - 1u + odd;
      magnitude -= static_cast<uint32_t>(127 - Bias) << 23;
      code = magnitude >> kShift;
      if (code > kAboveMax) {
        code = kAboveMax;
      }
    }
    if (Kind == SmallFloatKind::kUnsignedZero) {
      return code == 0 ? 0 : (code >= kAboveMax ? kSign : (sign | code));
    }
    return sign | code;
  }
};

using HalfFormat = SmallFloat<5, 10, 15, SmallFloatKind::kIeee>;

} // namespace c10::detail
