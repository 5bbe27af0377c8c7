#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <cstdint>
#include <type_traits>

namespace c10 {

// Constants of mathematics in the type T; for the reduced types they are rounded once, at compile time.
namespace detail {
template <typename T, uint16_t HalfBits, uint16_t BFloat16Bits>
C10_HOST_DEVICE constexpr T constant(long double value) {
  if constexpr (std::is_same_v<T, Half>) {
    return Half(HalfBits, Half::from_bits());
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return BFloat16(BFloat16Bits, BFloat16::from_bits());
  } else {
    return static_cast<T>(value);
  }
}
} // namespace detail

#define C10_MATH_CONSTANT_(name, value, half_bits, bfloat16_bits) \
  template <typename T>                                           \
  inline constexpr T name = detail::constant<T, half_bits, bfloat16_bits>(value);

C10_MATH_CONSTANT_(e, 2.718281828459045235360287471352662498L, 0x4170, 0x402E)
C10_MATH_CONSTANT_(euler, 0.577215664901532860606512090082402431L, 0x389E, 0x3F14)
C10_MATH_CONSTANT_(frac_1_pi, 0.318309886183790671537767526745028724L, 0x3518, 0x3EA3)
C10_MATH_CONSTANT_(frac_1_sqrt_pi, 0.564189583547756286948079451560772586L, 0x3883, 0x3F10)
C10_MATH_CONSTANT_(frac_sqrt_2, 0.707106781186547524400844362104849039L, 0x39A8, 0x3F35)
C10_MATH_CONSTANT_(frac_sqrt_3, 0.577350269189625764509148780501957456L, 0x389E, 0x3F14)
C10_MATH_CONSTANT_(golden_ratio, 1.618033988749894848204586834365638118L, 0x3E79, 0x3FCF)
C10_MATH_CONSTANT_(ln_10, 2.302585092994045684017991454684364208L, 0x409B, 0x4013)
C10_MATH_CONSTANT_(ln_2, 0.693147180559945309417232121458176568L, 0x398C, 0x3F31)
C10_MATH_CONSTANT_(log_10_e, 0.434294481903251827651128918916605082L, 0x36F3, 0x3EDE)
C10_MATH_CONSTANT_(log_2_e, 1.442695040888963407359924681001892137L, 0x3DC5, 0x3FB9)
C10_MATH_CONSTANT_(pi, 3.141592653589793238462643383279502884L, 0x4248, 0x4049)
C10_MATH_CONSTANT_(sqrt_2, 1.414213562373095048801688724209698079L, 0x3DA8, 0x3FB5)
C10_MATH_CONSTANT_(sqrt_3, 1.732050807568877293527446341505872367L, 0x3EEE, 0x3FDE)
#undef C10_MATH_CONSTANT_

} // namespace c10
