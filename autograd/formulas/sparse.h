// Derivatives of sparse operators that are longer than a line. A gradient has the places of the tensor it belongs to unless its
// operator says otherwise.
#pragma once

#include <aten/core/Tensor.h>

namespace torch::autograd::formulas {

/// The elements of the gradient of a coordinate tensor at the places it was made of.
at::Tensor sparse_constructor_values_backward(const at::Tensor& grad, const at::Tensor& indices);
/// The same for a compressed tensor, `result`.
at::Tensor sparse_compressed_values_backward(const at::Tensor& grad, const at::Tensor& result, const at::Tensor& values);
/// A sparse tensor with the places of self.
at::Tensor sparse_values_backward(const at::Tensor& grad, const at::Tensor& self);
at::Tensor to_sparse_backward(const at::Tensor& grad, const at::Tensor& self);
at::Tensor sparse_mask_backward(const at::Tensor& grad, const at::Tensor& mask, at::Layout self_layout);
at::Tensor sparse_sparse_matmul_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& other, int64_t which);
at::Tensor sparse_addmm_mat1_backward(
    const at::Tensor& grad, const at::Tensor& mat1, const at::Tensor& mat2, const at::Scalar& alpha);
at::Tensor sparse_addmm_mat2_backward(
    const at::Tensor& grad, const at::Tensor& mat1, const at::Tensor& mat2, const at::Scalar& alpha);

/// Of the diagonals that _spdiags laid into a matrix.
at::Tensor spdiags_backward(const at::Tensor& grad, const at::Tensor& offsets, at::IntArrayRef sizes);

} // namespace torch::autograd::formulas
