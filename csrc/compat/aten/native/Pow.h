// Integer powers, for elements of one's own kernels.
#pragma once

#include <aten/native/pointwise/power.h>

#include <type_traits>

namespace at::native {

/// base to the power of an exponent that is not negative, modulo the range of T.
template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
HOST_DEVICE inline T powi_impl(T base, T exponent) {
  return pointwise::integer_power(base, exponent);
}
/// The same; with a negative exponent 1 / base^n rounded towards 0, which is 0 unless base is 1 or -1.
template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
HOST_DEVICE inline T powi(T base, T exponent) {
  return pointwise::integer_power(base, exponent);
}

} // namespace at::native
