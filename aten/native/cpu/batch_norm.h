#pragma once
// Kernels of batch normalization, behind their operators in aten/native/composite/batch_norm.cpp.

#include <aten/core/TensorBase.h>
#include <aten/native/onednn/Activation.h>

#include <cstdint>

namespace at::native {

/// Tensors of one dtype each for data and for channels; all dense, those of channels contiguous. Those not defined are
/// not there or not wanted. Data lies as batch x channels x spatial, or with the channels last.
struct BatchNorm {
  TensorBase input;
  bool channels_last = false;
  int64_t batch = 0, channels = 0, spatial = 0;
  double eps = 0;
  TensorBase mean, variance; // of each channel, in double
  TensorBase weight, bias, output; // forward pass; its mean and variance are given
  TensorBase grad, grad_input, grad_weight, grad_bias;
  TensorBase grad_scale, grad_slope, grad_shift; // of each channel, in the computing type; see GradTerms
  TensorBase scale; // of each channel, in the backward pass with an activation: see batch_norm_statistics()
  onednn::Activation activation =
      onednn::Activation::None; // behind it, of floats; `grad` is the gradient of its result
  bool train = false; // in the backward pass: the statistics depend on the input
};

#define LT_DECLARE_BATCH_NORM_KERNELS(level)           \
  namespace level {                                    \
  void batch_norm_moments(const BatchNorm& p);         \
  void batch_norm_forward_kernel(const BatchNorm& p);  \
  void batch_norm_backward_kernel(const BatchNorm& p); \
  }
#ifndef CPU_CAPABILITY
LT_DECLARE_BATCH_NORM_KERNELS(v2)
LT_DECLARE_BATCH_NORM_KERNELS(v3)
LT_DECLARE_BATCH_NORM_KERNELS(v4)
#endif
#undef LT_DECLARE_BATCH_NORM_KERNELS

} // namespace at::native
