// Places of the threads for which something holds, for kernels of one's own.
#pragma once

#include <c10/macros/Macros.h>
#include <csrc/compat/aten/ceil_div.h>
#include <csrc/compat/aten/cuda/AsmUtils.cuh>
#include <csrc/compat/aten/cuda/DeviceUtils.cuh>

namespace at::cuda {

namespace detail {

/// Of one thread: what the threads before it in its warp have, and what the warps before its own have, if there are
/// any.
template <class T>
struct BlockVotes {
  T before_in_warp;
  unsigned warp;

  /// Leaves in `counts` what each warp has.
  __device__ BlockVotes(T* counts, bool in) : warp(threadIdx.x / C10_WARP_SIZE) {
    const unsigned votes = WARP_BALLOT(in);
    before_in_warp = static_cast<T>(__popc(votes & getLaneMaskLt()));
    if (getLaneId() == 0) {
      counts[warp] = static_cast<T>(__popc(votes));
    }
    __syncthreads();
  }
  /// `value` and the counts of the first `warps` warps joined.
  template <class Join>
  static __device__ T joined(T value, const T* counts, unsigned warps, const Join& join) {
    for (unsigned i = 0; i < warps; ++i) {
      value = join(value, counts[i]);
    }
    return value;
  }
};

} // namespace detail

/// `out` gets the running result of `binop` over the threads' `in` (0 or 1), this thread's included. All threads of the
/// block call; `smem` has an element for each warp, and may be used again afterwards if KillWARDependency.
template <class T, bool KillWARDependency, class BinaryFunction>
__device__ void inclusiveBinaryPrefixScan(T* smem, bool in, T* out, BinaryFunction binop) {
  const detail::BlockVotes<T> votes(smem, in);
  *out = votes.joined(static_cast<T>(votes.before_in_warp + static_cast<T>(in)), smem, votes.warp, binop);
  if constexpr (KillWARDependency) {
    __syncthreads();
  }
}

/// The same without this thread's; `carry` gets the block's result.
template <class T, bool KillWARDependency, class BinaryFunction>
__device__ void exclusiveBinaryPrefixScan(T* smem, bool in, T* out, T* carry, BinaryFunction binop) {
  const detail::BlockVotes<T> votes(smem, in);
  *out = votes.joined(votes.before_in_warp, smem, votes.warp, binop);
  const unsigned warps = (blockDim.x + C10_WARP_SIZE - 1) / C10_WARP_SIZE;
  *carry = votes.joined(static_cast<T>(0), smem, warps, binop);
  if constexpr (KillWARDependency) {
    __syncthreads();
  }
}

} // namespace at::cuda
