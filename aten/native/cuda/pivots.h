// Launches over the row exchanges that factorizations record. Pivots count from 1. What is out of range is put right in
// what the kernels write, and reported by the next wait for the device (index_error.h).
#pragma once

#include <aten/native/cuda/index_error.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// `count` matrices with `pivots` pivots each among `check.size` rows.
struct Pivots {
  std::int64_t count, pivots;
  const std::int32_t* in;
  std::int64_t* out;
  IndexCheck check;
  cudaStream_t stream;
};

/// out = in, for cuSOLVER.
void launch_widen_lu_pivots(const Pivots& p);
/// The same for LDL: a pair of equal negative pivots stands for a block of two rows.
void launch_widen_ldl_pivots(const Pivots& p);
/// out[i], `check.size` numbers for each matrix: which row of the original the exchanges, one after the other, bring to
/// row i.
void launch_pivot_order(const Pivots& p);

} // namespace at::native::cuda
