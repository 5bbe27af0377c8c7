#pragma once
// Backward passes of layer and group normalization, behind their operators in aten/native/composite/layer_norm.cpp.

#include <aten/core/TensorBase.h>

#include <cstdint>

namespace at::native {

/// Arguments of a backward pass. Tensors are contiguous; those not defined are not there or not wanted.
struct NormBackward {
  TensorBase grad, input, mean, rstd, weight;
  TensorBase grad_input, grad_weight, grad_bias;
  int64_t rows = 0; // rows of layer norm, images of group norm
  int64_t size = 0; // elements of a row, of a channel's plane
  int64_t channels = 0, groups = 0; // group norm only
};

#define LT_DECLARE_NORM_KERNELS(level)                    \
  namespace level {                                       \
  void layer_norm_backward_kernel(const NormBackward& p); \
  void group_norm_backward_kernel(const NormBackward& p); \
  }
#ifndef CPU_CAPABILITY
LT_DECLARE_NORM_KERNELS(v2)
LT_DECLARE_NORM_KERNELS(v3)
LT_DECLARE_NORM_KERNELS(v4)
#endif
#undef LT_DECLARE_NORM_KERNELS

} // namespace at::native
