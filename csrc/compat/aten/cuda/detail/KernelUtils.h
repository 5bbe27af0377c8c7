// Loops of kernels over a range, and their grids.
#pragma once

#include <c10/util/Exception.h>

#include <cstdint>
#include <limits>

// Each thread of the grid takes every (grid size)th index. The counter is wider than the index, whose last step may go
// beyond its type.
#define CUDA_KERNEL_LOOP_TYPE(i, n, index_type)                                    \
  int64_t i##_wide_ = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; \
  for (index_type i = static_cast<index_type>(i##_wide_); i##_wide_ < (n);         \
       i##_wide_ += static_cast<int64_t>(blockDim.x) * gridDim.x, i = static_cast<index_type>(i##_wide_))

#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)

namespace at::cuda::detail {

constexpr int CUDA_NUM_THREADS = 1024;

/// Blocks for `N` threads.
inline int GET_BLOCKS(const int64_t N, const int64_t max_threads_per_block = CUDA_NUM_THREADS) {
  TORCH_INTERNAL_ASSERT(N > 0, "CUDA kernel launch blocks must be positive, but got N=", N);
  const int64_t blocks = (N - 1) / max_threads_per_block + 1;
  TORCH_INTERNAL_ASSERT(blocks <= std::numeric_limits<int>::max(), "Can't schedule too many blocks on CUDA device");
  return static_cast<int>(blocks);
}

} // namespace at::cuda::detail
