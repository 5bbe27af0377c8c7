// An extension as the field has them: the sum of an input and a residual, normalized by rows, in one kernel there and
// two back.
#pragma once

#include <torch/types.h>

#include <optional>
#include <tuple>

namespace fused_norm {

/// (normalized rows * weight + bias, x + residual, means, reciprocal deviations) of rows of a dense x. Means and
/// deviations are float.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> forward(
    const at::Tensor& x,
    const std::optional<at::Tensor>& residual,
    const at::Tensor& weight,
    const at::Tensor& bias,
    double eps);

/// Gradients of sum, weight and bias; those of the parameters in float. `grad_sum`, of the sum by itself, may be
/// undefined.
std::tuple<at::Tensor, at::Tensor, at::Tensor> backward(
    const at::Tensor& grad,
    const at::Tensor& grad_sum,
    const at::Tensor& sum,
    const at::Tensor& mean,
    const at::Tensor& rstd,
    const at::Tensor& weight);

} // namespace fused_norm
