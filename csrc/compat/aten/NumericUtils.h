#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/complex.h>

#include <cmath>
#include <type_traits>

namespace at {

// For kernels that are templates over the dtype. Integers are never NaN or infinite; a complex number is where one of
// its parts is.

template <typename T>
C10_HOST_DEVICE inline bool _isnan(T value) {
  if constexpr (c10::is_complex<T>::value) {
    return std::isnan(value.real()) || std::isnan(value.imag());
  } else if constexpr (std::is_integral_v<T>) {
    return false;
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value);
  } else {
    return std::isnan(static_cast<float>(value));
  }
}

template <typename T>
C10_HOST_DEVICE inline bool _isinf(T value) {
  if constexpr (c10::is_complex<T>::value) {
    return std::isinf(value.real()) || std::isinf(value.imag());
  } else if constexpr (std::is_integral_v<T>) {
    return false;
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::isinf(value);
  } else {
    return std::isinf(static_cast<float>(value));
  }
}

} // namespace at
