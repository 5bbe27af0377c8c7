#pragma once

#include <csrc/compat/aten/cuda/Atomic.cuh>
#include <csrc/compat/headeronly/cuda/KernelUtils.h>

namespace at::native {

using torch::headeronly::fastAtomicAdd;
using torch::headeronly::fastSpecializedAtomicAdd;

/// The number of an element of a dense channels-last image.
__device__ __forceinline__ size_t idx_cl(
    const size_t n,
    const size_t h,
    const size_t w,
    const size_t c,
    const size_t height,
    const size_t width,
    const size_t channel) {
  return ((n * height + h) * width + w) * channel + c;
}

} // namespace at::native
