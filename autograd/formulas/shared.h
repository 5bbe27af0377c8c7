// Derivative helpers that several sources call.
#pragma once

#include <autograd/formulas/types.h>
#include <autograd/forward/forward_grad.h>
#include <autograd/forward/levels.h>
#include <c10/core/GradMode.h>

namespace torch::autograd::formulas {

/// Whether what a formula makes of these tensors may be differentiated again, so that it must be made of operators that
/// can be: it is recorded, or one of them has a tangent.
template <class... Tensors>
bool is_differentiated_again(const Tensors&... tensors) {
  return c10::GradMode::is_enabled() || (forward_ad::any_level() && (forward_ad::has_tangent(tensors) || ...));
}

/// a + b, of which either may be undefined.
Tensor sum_of(const Tensor& a, const Tensor& b);

/// t * s, or t itself when s is the number one.
Tensor maybe_multiply(const Tensor& t, const Scalar& s);

/// The real part of a complex gradient whose input is real.
Tensor handle_r_to_c(ScalarType self_dtype, Tensor gradient);
Tensor handle_r_to_c(const Tensor& self, Tensor gradient);

/// The gradient of as_strided for an input of the given geometry. Where several elements of the output are one memory
/// place, their gradients add up; where several elements of the input are one, each gets an equal share, so that the
/// sum over the memory place is right.
Tensor as_strided_backward(
    Tensor grad,
    const at::TensorGeometry& input,
    IntArrayRef sizes,
    IntArrayRef strides,
    std::optional<int64_t> storage_offset);

} // namespace torch::autograd::formulas
