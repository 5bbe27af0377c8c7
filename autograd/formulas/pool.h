// Derivatives of pooling.
#pragma once

#include <aten/core/Tensor.h>

namespace torch::autograd::formulas {

/// The elements of `grad` at the places that a pooling over the last `dims` dimensions took.
at::Tensor max_pool_double_backward(const at::Tensor& grad, const at::Tensor& indices, int64_t dims);

} // namespace torch::autograd::formulas
