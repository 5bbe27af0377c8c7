// Functions of real and complex numbers under one name each. The second parameter is what comes back: of a complex
// number also its real type.
#pragma once

#include <c10/util/complex.h>
#include <csrc/compat/aten/NumericUtils.h>
#include <csrc/compat/c10/util/MathConstants.h>

#include <cmath>
#include <type_traits>

namespace at::native {
namespace detail {

template <class T>
struct is_complex_number : std::false_type {};
template <class T>
struct is_complex_number<c10::complex<T>> : std::true_type {};

} // namespace detail

/// Negative real numbers stay: callers take their std::abs.
template <typename SCALAR_TYPE, typename VALUE_TYPE = SCALAR_TYPE>
VALUE_TYPE zabs(SCALAR_TYPE z) {
  if constexpr (detail::is_complex_number<SCALAR_TYPE>::value) {
    return VALUE_TYPE(std::abs(z));
  } else {
    return z;
  }
}

template <typename SCALAR_TYPE, typename VALUE_TYPE = SCALAR_TYPE>
VALUE_TYPE angle_impl(SCALAR_TYPE z) {
  if constexpr (detail::is_complex_number<SCALAR_TYPE>::value) {
    return VALUE_TYPE(std::arg(z));
  } else {
    return at::_isnan(z) ? static_cast<VALUE_TYPE>(z) : static_cast<VALUE_TYPE>(z < 0 ? c10::pi<double> : 0.0);
  }
}

template <typename SCALAR_TYPE, typename VALUE_TYPE = SCALAR_TYPE>
constexpr VALUE_TYPE real_impl(SCALAR_TYPE z) {
  if constexpr (detail::is_complex_number<SCALAR_TYPE>::value) {
    return VALUE_TYPE(z.real());
  } else {
    return z;
  }
}

template <typename SCALAR_TYPE, typename VALUE_TYPE = SCALAR_TYPE>
constexpr VALUE_TYPE imag_impl(SCALAR_TYPE z) {
  if constexpr (detail::is_complex_number<SCALAR_TYPE>::value) {
    return VALUE_TYPE(z.imag());
  } else {
    return VALUE_TYPE(0);
  }
}

template <typename TYPE>
TYPE conj_impl(TYPE z) {
  if constexpr (detail::is_complex_number<TYPE>::value) {
    return TYPE(z.real(), -z.imag());
  } else {
    return z;
  }
}

/// z / |z|, and 0 for 0.
template <typename T>
c10::complex<T> sgn_impl(c10::complex<T> z) {
  return z == c10::complex<T>(0, 0) ? z : z / zabs(z);
}

} // namespace at::native
