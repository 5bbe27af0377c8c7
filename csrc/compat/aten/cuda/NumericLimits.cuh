#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <limits>

namespace at {

/// std::numeric_limits for device code. The bounds are infinite where the type has infinities.
template <class T>
struct numeric_limits {
  static C10_HOST_DEVICE T lowest() {
    return std::numeric_limits<T>::lowest();
  }
  static C10_HOST_DEVICE T max() {
    return std::numeric_limits<T>::max();
  }
  static C10_HOST_DEVICE T lower_bound() {
    if constexpr (std::numeric_limits<T>::has_infinity) {
      return -std::numeric_limits<T>::infinity();
    } else {
      return std::numeric_limits<T>::lowest();
    }
  }
  static C10_HOST_DEVICE T upper_bound() {
    if constexpr (std::numeric_limits<T>::has_infinity) {
      return std::numeric_limits<T>::infinity();
    } else {
      return std::numeric_limits<T>::max();
    }
  }
};

} // namespace at
