#pragma once

#include <cmath>

namespace at::native {

template <class scalar_t>
__device__ __forceinline__ double device_sqrt(scalar_t value) {
  return std::sqrt(value);
}

} // namespace at::native
