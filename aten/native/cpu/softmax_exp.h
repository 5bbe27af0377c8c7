#pragma once
// Exponentials of what lies below a row's greatest value, as softmax and attention take them.

#include <aten/native/vec/math.h>

#include <type_traits>

namespace at::native {
inline namespace CPU_CAPABILITY {

/// exp(x) for x <= 0 or NaN. Masked elements lie far below: where the result is zero no lane comes near a denormal
/// number, since a vector with one of these costs a processor more than a hundred cycles.
template <class T, int N>
VEC_INLINE vec::Vec<T, N> exp_or_zero(vec::Vec<T, N> x) {
  using V = vec::Vec<T, N>;
  constexpr int bits = vec::detail::kExpFractionBits<T, N>;
  // Half the least denormal number, which still rounds to it, is just above.
  const auto is_zero = x < V(std::is_same_v<T, float> ? T(-103.98) : T(-745.14));
  return select(
      is_zero, V(T(0)), vec::detail::exp_join<bits>(vec::detail::exp_reduce<bits>(select(is_zero, V(T(0)), x))));
}

/// exp(x) for x <= 50 or NaN, or about 1e-38 (1e-308) where it is less: for sums that are at least 1.
template <class T, int N>
VEC_INLINE vec::Vec<T, N> exp_for_sum(vec::Vec<T, N> x) {
  constexpr int bits = vec::detail::kExpFractionBits<T, N>;
  // NaN is kept, which max takes from its second operand.
  const auto normal = max(vec::Vec<T, N>(std::is_same_v<T, float> ? T(-87) : T(-708)), x);
  return vec::detail::exp_join<bits, /*Normal=*/true>(vec::detail::exp_reduce<bits>(normal));
}

} // namespace CPU_CAPABILITY
} // namespace at::native
