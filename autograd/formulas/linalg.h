// Derivatives of matrix products that are too long for one line of their entry. All are written with operators, so that
// they can be differentiated again.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <array>
#include <tuple>

namespace torch::autograd::formulas {

/// Gradients of alpha * mat1 @ mat2, in the memory order of the operand they belong to (its sizes and strides).
at::Tensor mm_mat1_grad(const at::Tensor& grad, const at::Tensor& mat2, at::IntArrayRef sizes, at::IntArrayRef strides, const at::Scalar& alpha);
at::Tensor mm_mat2_grad(const at::Tensor& grad, const at::Tensor& mat1, at::IntArrayRef sizes, at::IntArrayRef strides, const at::Scalar& alpha);

/// Gradients of beta * self + alpha * mat1 @ mat2 for self and mat2, on CUDA by one kernel where self is a layer's bias.
std::tuple<at::Tensor, at::Tensor> addmm_self_mat2_grads(const at::Tensor& grad, at::IntArrayRef self_sizes, const at::Tensor& mat1, at::IntArrayRef mat2_sizes, at::IntArrayRef mat2_strides, const at::Scalar& beta, const at::Scalar& alpha, std::array<bool, 2> grad_input_mask);

/// Gradients of the relu or gelu of beta * self + alpha * mat1 @ mat2.
std::tuple<at::Tensor, at::Tensor, at::Tensor> addmm_activation_backward(const at::Tensor& grad, const at::Tensor& result, const at::Tensor& self, const at::Tensor& mat1, const at::Tensor& mat2, const at::Scalar& beta, const at::Scalar& alpha, bool use_gelu, std::array<bool, 3> grad_input_mask);

at::Tensor addbmm_batch1_grad(const at::Tensor& grad, const at::Tensor& batch2, const at::Scalar& alpha);
at::Tensor addbmm_batch2_grad(const at::Tensor& grad, const at::Tensor& batch1, const at::Scalar& alpha);

/// Gradients of alpha * outer(vec1, vec2), whose vectors may have another dtype than the result.
at::Tensor addr_vec1_grad(const at::Tensor& grad, const at::Tensor& vec2, const at::Scalar& alpha);
at::Tensor addr_vec2_grad(const at::Tensor& grad, const at::Tensor& vec1, const at::Scalar& alpha);

} // namespace torch::autograd::formulas
