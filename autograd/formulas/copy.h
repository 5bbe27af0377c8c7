// Gradients of copies and conversions.
#pragma once

#include <aten/core/Tensor.h>

namespace torch::autograd::formulas {

/// The gradient of a copy, brought back to where its source lives and to its dtype (a real source of a complex copy keeps
/// the real part).
at::Tensor copy_backward(const at::Tensor& grad, const at::TensorOptions& source);

} // namespace torch::autograd::formulas
