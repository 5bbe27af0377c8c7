// Batch normalization by the statistics of the batch in two parts: what is summed over each channel, and numbers by
// which the rest is computed element by element. Compiled graphs join that to what stands around it.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/native/cpu/batch_norm.h>
#include <c10/core/MemoryFormat.h>

#include <array>
#include <tuple>

namespace at::native {

/// Contiguous, or channels-last where a tensor of 4 or 5 dimensions lies so.
c10::MemoryFormat batch_norm_format(const Tensor& input);
/// The problem with the input in that format.
BatchNorm batch_norm_problem(const Tensor& input, c10::MemoryFormat format, double eps);
/// What the problem's kernels do, at the level of this processor.
void compute_batch_norm_moments(const BatchNorm& problem);
void compute_batch_norm_backward(const BatchNorm& problem);

/// (1 - momentum) * running + momentum * value, computed in doubles: running statistics after a step.
Tensor moved_statistics(const Tensor& running, const Tensor& value, double momentum);

/// By channel: the result is (input - mean) * scale + bias. Running statistics are new tensors, and undefined where
/// none are given.
struct BatchNormStatistics {
  Tensor mean, invstd, scale, running_mean, running_var;
};
/// Of floats or doubles on the CPU; all tensors are of one dtype, and only the input must be defined.
BatchNormStatistics batch_norm_statistics(
    const Tensor& input,
    const Tensor& weight,
    const Tensor& running_mean,
    const Tensor& running_var,
    double momentum,
    double eps);

/// What a backward pass needs of the forward pass. Weight and bias may be undefined.
struct BatchNormSaved {
  Tensor input, weight, bias, mean, invstd, scale;
};

/// By channel: the gradient of the input is grad * scale + ((input - mean) * slope + shift).
struct BatchNormGradients {
  Tensor scale, slope, shift, weight, bias;
};
/// `wanted`: whether the weight's and the bias's gradients are.
BatchNormGradients batch_norm_gradients(const Tensor& grad, const BatchNormSaved& saved, std::array<bool, 2> wanted);

/// The gradients of input, weight and bias, where an activation of floats stands behind the normalization and `grad` is
/// the gradient of what that gives. With the bits of the two operators.
std::tuple<Tensor, Tensor, Tensor> batch_norm_activation_backward(
    const Tensor& grad, const BatchNormSaved& saved, std::array<bool, 2> wanted, onednn::Activation activation);

} // namespace at::native
