// Launches for sparse tensors.
#pragma once

#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native {
struct SparseDeviceKernels;
} // namespace at::native

namespace at::native::cuda {

/// What the plugin registers.
const SparseDeviceKernels& sparse_device_kernels();

/// out[g] = the sum of the blocks values[order[k]] for k from starts[g] up to starts[g + 1], the last group up to n, in
/// order: half and bfloat16 in float, bool by or.
struct SumGroups {
  c10::ScalarType dtype;
  const void* values;
  const std::int64_t* order;
  const std::int64_t* starts;
  std::int64_t n, groups, block; // elements, groups and the size of a block
  void* out;
  cudaStream_t stream;
};
void launch_sum_groups(const SumGroups& p);

} // namespace at::native::cuda
