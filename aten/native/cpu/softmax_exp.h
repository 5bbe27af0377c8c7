#pragma once
// Exponentials of what lies below a row's greatest value, as softmax and attention take them.

#include <aten/native/vec/math.h>

#include <type_traits>

namespace at::native {
inline namespace CPU_CAPABILITY {

/// exp(x) for x <= 0 or NaN. Masked elements lie far below: where the result is zero no lane comes near a denormal number, since
/// a vector with one of these costs a processor more than a hundred cycles.
template <class T, int N>
VEC_INLINE vec::Vec<T, N> exp_or_zero(vec::Vec<T, N> x) {
  using V = vec::Vec<T, N>;
  // Half the least denormal number, which still rounds to it, is just above.
  const auto is_zero = x < V(std::is_same_v<T, float> ? T(-103.98) : T(-745.14));
  return select(is_zero, V(T(0)), exp(select(is_zero, V(T(0)), x)));
}

} // namespace CPU_CAPABILITY
} // namespace at::native
