// Launches of layer and RMS normalization over rows of contiguous tensors.
#pragma once

#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// Elements are of `dtype`; statistics and weights of `param`, the same or float. Null pointers are not there or not
/// wanted. RMS norm has neither mean nor bias, and its `rstd` is float, or double where elements are.
struct LayerNorm {
  std::int64_t rows, size;
  c10::ScalarType dtype, param;
  const void *x, *weight, *bias;
  double eps;
  void *y, *mean, *rstd;
  cudaStream_t stream;
};
void launch_layer_norm(const LayerNorm& p);
void launch_rms_norm(const LayerNorm& p);

/// Gradients of weights are summed over `parts` of the rows first: `parts` x size elements each, in float or double.
struct LayerNormBackward {
  std::int64_t rows, size, parts;
  c10::ScalarType dtype, param;
  const void *grad, *x, *mean, *rstd, *weight;
  void *dx, *weight_grad, *bias_grad;
  void *weight_parts, *bias_parts;
  cudaStream_t stream;
};
void launch_layer_norm_backward(const LayerNormBackward& p);
void launch_rms_norm_backward(const LayerNormBackward& p);

} // namespace at::native::cuda
