// Bounds on the gradients of parameters.
#pragma once

#include <csrc/namespace.h>

#include <initializer_list>
#include <vector>

namespace torch::nn::utils {

/// Scales the gradients, in place, so that the norm of them all together is at most `max_norm`, and returns the norm
/// they had. `norm_type` is the order of the norm; infinity takes the largest absolute value. `error_if_nonfinite`
/// throws, before anything is changed, when the norm is infinite or NaN.
TORCH_API double clip_grad_norm_(
    const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2.0, bool error_if_nonfinite = false);
TORCH_API double clip_grad_norm_(
    std::initializer_list<Tensor> parameters, double max_norm, double norm_type = 2.0, bool error_if_nonfinite = false);
TORCH_API double clip_grad_norm_(
    Tensor parameter, double max_norm, double norm_type = 2.0, bool error_if_nonfinite = false);

/// Moves each element of the gradients, in place, into [-clip_value, clip_value].
TORCH_API void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value);
TORCH_API void clip_grad_value_(std::initializer_list<Tensor> parameters, double clip_value);
TORCH_API void clip_grad_value_(Tensor parameter, double clip_value);

} // namespace torch::nn::utils
