// Launches of the negative log likelihood of class indices.
#pragma once

#include <aten/native/cuda/index_error.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// Scores as batch x classes x points, targets as batch x points; all contiguous. `weight` may be null.
struct NllLoss {
  std::int64_t batch, classes, points, ignore_index;
  c10::ScalarType dtype;
  const void* weight;
  const void* target; // bytes or int64
  bool byte_targets;
  bool each, mean; // no reduction; the mean instead of the sum
  IndexCheck check;
  cudaStream_t stream;
};

void launch_nll_loss(const NllLoss& p, const void* scores, void* output, void* total_weight);
/// `grad_input` holds zeros.
void launch_nll_loss_backward(const NllLoss& p, const void* grad, const void* total_weight, void* grad_input);

} // namespace at::native::cuda
