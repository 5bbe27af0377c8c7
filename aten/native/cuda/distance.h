// Launches of distances between the rows of two matrices.
#pragma once

#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// Batches of contiguous matrices: a has rows x cols elements, b others x cols. Float or double; any norm p >= 0.
struct Distances {
  std::int64_t batch, rows, others, cols;
  double p;
  c10::ScalarType dtype;
  const void *a, *b;
  cudaStream_t stream;
};
/// out: batch x rows x others.
void launch_distances(const Distances& d, void* out);
/// grad_a from the gradients of distances and the distances themselves.
void launch_distances_backward(const Distances& d, const void* grad, const void* distances, void* grad_a);

} // namespace at::native::cuda
