// Atomic additions to an element of a tensor, by its number.
#pragma once

#include <csrc/compat/aten/cuda/Atomic.cuh>

namespace torch::headeronly {

/// tensor[index] += value, atomically. `numel` is a hint.
template <class scalar_t, class index_t>
__device__ __forceinline__ void fastSpecializedAtomicAdd(
    scalar_t* tensor, index_t index, const index_t /*numel*/, scalar_t value) {
  gpuAtomicAddNoReturn(tensor + index, value);
}

/// The same; `fast_atomics` is a hint too.
template <class scalar_t, class index_t>
__device__ __forceinline__ void fastAtomicAdd(
    scalar_t* tensor, index_t index, const index_t numel, scalar_t value, bool /*fast_atomics*/) {
  fastSpecializedAtomicAdd(tensor, index, numel, value);
}

} // namespace torch::headeronly
