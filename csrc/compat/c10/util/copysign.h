#pragma once

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <cmath>
#include <type_traits>

namespace c10 {

/// The magnitude of `a` with the sign of `b`; integers are taken as floating-point numbers.
template <typename T, typename U>
inline auto copysign(const T& a, const U& b) {
  return std::copysign(a, b);
}
inline Half copysign(Half a, Half b) {
  return Half(static_cast<unsigned short>((a.x & 0x7fff) | (b.x & 0x8000)), Half::from_bits());
}
inline BFloat16 copysign(BFloat16 a, BFloat16 b) {
  return BFloat16(static_cast<unsigned short>((a.x & 0x7fff) | (b.x & 0x8000)), BFloat16::from_bits());
}

} // namespace c10
