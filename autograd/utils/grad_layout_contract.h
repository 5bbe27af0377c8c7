// What layout a gradient should have: that of its variable where its elements fill memory, else by rows.
#pragma once

#include <aten/core/Tensor.h>

namespace torch::autograd::utils {

/// Whether a strided gradient has it already. Strides of dimensions of size 1 are free, unless they are 0.
TORCH_API bool obeys_layout_contract(const at::Tensor& grad, const at::Tensor& variable);

/// A copy of `new_grad` that has it.
TORCH_API at::Tensor clone_obey_contract(const at::Tensor& new_grad, const at::Tensor& variable);

} // namespace torch::autograd::utils
