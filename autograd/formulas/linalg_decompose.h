// Gradients of matrix factorizations. All are written with operators, so that they can be differentiated again.
//
// For complex matrices the gradient is the conjugate Wirtinger derivative: <G, dA> = Re tr(G^H dA). Undefined gradients are zero.
#pragma once

#include <aten/core/Tensor.h>

#include <array>
#include <string_view>
#include <tuple>

namespace torch::autograd::formulas {

at::Tensor cholesky_backward(const at::Tensor& grad, bool upper, const at::Tensor& L);
at::Tensor cholesky_inverse_backward(const at::Tensor& grad, const at::Tensor& L, bool upper, const at::Tensor& inverse);

at::Tensor linalg_lu_backward(const at::Tensor& grad_L, const at::Tensor& grad_U, const at::Tensor& P, const at::Tensor& L, const at::Tensor& U, bool pivot);
at::Tensor lu_factor_ex_backward(const at::Tensor& grad, const at::Tensor& LU, const at::Tensor& pivots, bool pivot);
/// Of matrices of rows x cols.
at::Tensor lu_unpack_backward(const at::Tensor& grad_L, const at::Tensor& grad_U, int64_t rows, int64_t cols);
at::Tensor linalg_det_backward(const at::Tensor& grad, const at::Tensor& det, const at::Tensor& A, const at::Tensor& LU, const at::Tensor& pivots);
at::Tensor linalg_slogdet_backward(const at::Tensor& grad_sign, const at::Tensor& grad_logabsdet, const at::Tensor& A, const at::Tensor& sign, const at::Tensor& LU, const at::Tensor& pivots);
at::Tensor linalg_inv_backward(const at::Tensor& grad, const at::Tensor& inverse);

at::Tensor linalg_qr_backward(const at::Tensor& grad_Q, const at::Tensor& grad_R, const at::Tensor& Q, const at::Tensor& R, std::string_view mode);
std::tuple<at::Tensor, at::Tensor> householder_product_backward(const at::Tensor& grad, const at::Tensor& input, const at::Tensor& tau, std::array<bool, 2> mask);
std::tuple<at::Tensor, at::Tensor, at::Tensor> ormqr_backward(const at::Tensor& grad, const at::Tensor& input, const at::Tensor& tau, const at::Tensor& other, bool left, bool transpose, std::array<bool, 3> mask);

at::Tensor svd_backward(const at::Tensor& grad_U, const at::Tensor& grad_S, const at::Tensor& grad_Vh, const at::Tensor& U, const at::Tensor& S, const at::Tensor& Vh, bool full_matrices);
at::Tensor linalg_eigh_backward(const at::Tensor& grad_L, const at::Tensor& grad_V, const at::Tensor& L, const at::Tensor& V);
at::Tensor linalg_eig_backward(const at::Tensor& grad_L, const at::Tensor& grad_V, const at::Tensor& L, const at::Tensor& V, at::ScalarType self_dtype);

} // namespace torch::autograd::formulas
