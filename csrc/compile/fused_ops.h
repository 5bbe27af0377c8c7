// Operators that graphs are rewritten to.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/macros/Export.h>

#include <cstdint>

namespace torch::fused {

// fused::convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation,
//   int groups, Tensor? other, str activation) -> Tensor
//   activation(convolution + other), channels-last; the function is "none", "relu" or "silu".
// fused::pack_weight(Tensor weight, bool is_transposed, int rows) -> Tensor
//   A right factor [k, n], or one that is to be transposed, packed for fused::linear with so many rows: bytes that mean
//   nothing elsewhere. It must be the parameter itself, not a view, whose version says nothing of it.
// fused::linear(Tensor input, Tensor packed, Tensor? bias, int columns, str activation) -> Tensor
//   activation(input times what was packed + bias).
// fused::batch_norm_statistics(Tensor input, Tensor? weight, Tensor? running_mean, Tensor? running_var, float momentum,
//   float eps) -> (Tensor mean, Tensor invstd, Tensor scale, Tensor running_mean_out, Tensor running_var_out)
//   Of batch normalization by the statistics of the batch, which gives (input - mean) * scale + bias.
// fused::batch_norm_gradients(Tensor grad, Tensor input, Tensor? weight, Tensor mean, Tensor invstd, bool[2] wanted)
//   -> (Tensor scale, Tensor slope, Tensor shift, Tensor grad_weight, Tensor grad_bias)
//   Of its backward pass: the gradient of the input is grad * scale + ((input - mean) * slope + shift).
// fused::batch_norm_activation_backward(Tensor grad, Tensor input, Tensor? weight, Tensor? bias, Tensor mean, Tensor
//   invstd, Tensor scale, bool[2] wanted, str activation) -> (Tensor grad_input, Tensor grad_weight, Tensor grad_bias)
//   All of it, of floats, where `grad` is the gradient of what the activation behind the normalization gives.

/// Makes them known to the dispatcher; done once.
TORCH_API void register_fused_ops();

/// Whether a product of these sizes has a kernel for packed weights, and work that is worth them.
bool can_pack(int64_t rows, int64_t columns, int64_t terms, bool has_bias);

} // namespace torch::fused
