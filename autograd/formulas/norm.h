// Derivatives of batch normalization.
#pragma once

#include <aten/core/Tensor.h>

#include <array>
#include <tuple>

namespace torch::autograd::formulas {

/// Gradients of the backward pass of batch norm for (input, weight, grad_out), from those of its three results.
std::tuple<at::Tensor, at::Tensor, at::Tensor> batch_norm_double_backward(
    const at::Tensor& input,
    const at::Tensor& weight,
    const at::Tensor& grad_grad_input,
    const at::Tensor& grad_grad_weight,
    const at::Tensor& grad_grad_bias,
    const at::Tensor& grad_out,
    const at::Tensor& running_mean,
    const at::Tensor& running_var,
    bool train,
    double eps,
    const at::Tensor& save_mean,
    const at::Tensor& save_invstd,
    std::array<bool, 3> mask);

} // namespace torch::autograd::formulas
