#pragma once

#include <ATen/cuda/Atomic.cuh>

namespace at::native {

/// tensor[index] += value, atomically. `numel` and `fast_atomics` are hints.
template <class scalar_t, class index_t>
__device__ __forceinline__ void fastAtomicAdd(
    scalar_t* tensor, index_t index, const index_t /*numel*/, scalar_t value, bool /*fast_atomics*/) {
  gpuAtomicAddNoReturn(tensor + index, value);
}

} // namespace at::native
