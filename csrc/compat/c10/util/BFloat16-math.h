#pragma once

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <cmath>
#include <type_traits>

namespace c10 {
template <typename T>
struct is_reduced_floating_point : std::bool_constant<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>> {};
template <typename T>
inline constexpr bool is_reduced_floating_point_v = is_reduced_floating_point<T>::value;
} // namespace c10

// The functions of <cmath> for the reduced types, which keep the type of the argument.
namespace std {

#define C10_REDUCED_UNARY_(name)                                                   \
  template <typename T, enable_if_t<c10::is_reduced_floating_point_v<T>, int> = 0> \
  inline T name(T a) {                                                             \
    return T(std::name(static_cast<float>(a)));                                    \
  }
C10_REDUCED_UNARY_(acos)
C10_REDUCED_UNARY_(acosh)
C10_REDUCED_UNARY_(asin)
C10_REDUCED_UNARY_(asinh)
C10_REDUCED_UNARY_(atan)
C10_REDUCED_UNARY_(atanh)
C10_REDUCED_UNARY_(ceil)
C10_REDUCED_UNARY_(cos)
C10_REDUCED_UNARY_(cosh)
C10_REDUCED_UNARY_(erf)
C10_REDUCED_UNARY_(erfc)
C10_REDUCED_UNARY_(exp)
C10_REDUCED_UNARY_(exp2)
C10_REDUCED_UNARY_(expm1)
C10_REDUCED_UNARY_(floor)
C10_REDUCED_UNARY_(lgamma)
C10_REDUCED_UNARY_(log)
C10_REDUCED_UNARY_(log10)
C10_REDUCED_UNARY_(log1p)
C10_REDUCED_UNARY_(log2)
C10_REDUCED_UNARY_(nearbyint)
C10_REDUCED_UNARY_(rint)
C10_REDUCED_UNARY_(sin)
C10_REDUCED_UNARY_(sinh)
C10_REDUCED_UNARY_(sqrt)
C10_REDUCED_UNARY_(tan)
C10_REDUCED_UNARY_(tanh)
C10_REDUCED_UNARY_(tgamma)
C10_REDUCED_UNARY_(trunc)
#undef C10_REDUCED_UNARY_

#define C10_REDUCED_BINARY_(name)                                                  \
  template <typename T, enable_if_t<c10::is_reduced_floating_point_v<T>, int> = 0> \
  inline T name(T a, T b) {                                                        \
    return T(std::name(static_cast<float>(a), static_cast<float>(b)));             \
  }
C10_REDUCED_BINARY_(atan2)
C10_REDUCED_BINARY_(fmod)
C10_REDUCED_BINARY_(hypot)
C10_REDUCED_BINARY_(pow)
#undef C10_REDUCED_BINARY_
template <typename T, enable_if_t<c10::is_reduced_floating_point_v<T>, int> = 0>
inline T pow(T a, double b) {
  return T(std::pow(static_cast<float>(a), static_cast<float>(b)));
}

/// The next number after `from` in the direction of `to`, in the type itself.
template <typename T, enable_if_t<c10::is_reduced_floating_point_v<T>, int> = 0>
inline T nextafter(T from, T to) {
  const float a = from, b = to;
  if (a != a || b != b) {
    return T(a + b);
  }
  if (a == b) {
    return to;
  }
  if (a == 0.0f) {
    return T(static_cast<unsigned short>(b < 0.0f ? 0x8001 : 0x0001), T::from_bits());
  }
  const bool away = (a < b) == (a > 0.0f);
  return T(static_cast<unsigned short>(away ? from.x + 1 : from.x - 1), T::from_bits());
}

} // namespace std
