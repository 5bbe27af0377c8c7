// Places of the threads for which something holds, for kernels of one's own.
#pragma once

#include <ATen/ceil_div.h>
#include <ATen/cuda/AsmUtils.cuh>
#include <ATen/cuda/DeviceUtils.cuh>
#include <c10/macros/Macros.h>

namespace at::cuda {

/// `out` gets the running result of `binop` over the threads' `in` (0 or 1), this thread's included. All threads of the block
/// call; `smem` has an element for each warp, and may be used again afterwards if KillWARDependency.
template <class T, bool KillWARDependency, class BinaryFunction>
__device__ void inclusiveBinaryPrefixScan(T* smem, bool in, T* out, BinaryFunction binop) {
  const unsigned votes = WARP_BALLOT(in);
  T count = static_cast<T>(__popc(getLaneMaskLe() & votes));
  const unsigned warp = threadIdx.x / C10_WARP_SIZE, warps = blockDim.x / C10_WARP_SIZE;
  if (getLaneId() == 0) {
    smem[warp] = static_cast<T>(__popc(votes));
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned i = 1; i < warps; ++i) {
      smem[i] = binop(smem[i], smem[i - 1]);
    }
  }
  __syncthreads();
  if (warp > 0) {
    count = binop(count, smem[warp - 1]);
  }
  *out = count;
  if (KillWARDependency) {
    __syncthreads();
  }
}

/// The same without this thread's; `carry` gets the block's result.
template <class T, bool KillWARDependency, class BinaryFunction>
__device__ void exclusiveBinaryPrefixScan(T* smem, bool in, T* out, T* carry, BinaryFunction binop) {
  inclusiveBinaryPrefixScan<T, false, BinaryFunction>(smem, in, out, binop);
  *out -= static_cast<T>(in);
  *carry = smem[at::ceil_div<int>(static_cast<int>(blockDim.x), C10_WARP_SIZE) - 1];
  if (KillWARDependency) {
    __syncthreads();
  }
}

} // namespace at::cuda
