// Gradients of solutions of linear systems, of pseudo-inverses and of distances between rows. All are written with operators,
// so that they can be differentiated again.
#pragma once

#include <aten/core/Tensor.h>

#include <array>
#include <tuple>

namespace torch::autograd::formulas {

/// Gradients for A and B; B had sizes `b_sizes`, which say whether it was a vector.
std::tuple<at::Tensor, at::Tensor> linalg_solve_backward(const at::Tensor& grad, const at::Tensor& X, const at::Tensor& A, at::IntArrayRef b_sizes, const at::Tensor& LU, const at::Tensor& pivots, bool left, std::array<bool, 2> mask);
/// Gradient for both triangles of LU.
at::Tensor linalg_lu_solve_LU(const at::Tensor& grad, const at::Tensor& LU, const at::Tensor& pivots, const at::Tensor& X, bool left, bool adjoint);
std::tuple<at::Tensor, at::Tensor> linalg_solve_triangular_backward(const at::Tensor& grad, const at::Tensor& A, const at::Tensor& X, bool upper, bool left, bool unitriangular, std::array<bool, 2> mask);
/// Gradients for b and A.
std::tuple<at::Tensor, at::Tensor> triangular_solve_backward(const at::Tensor& grad_x, const at::Tensor& grad_m, const at::Tensor& A, const at::Tensor& X, bool upper, bool transpose, bool unitriangular, std::array<bool, 2> mask);
std::tuple<at::Tensor, at::Tensor> cholesky_solve_backward(const at::Tensor& grad, const at::Tensor& L, const at::Tensor& X, bool upper, std::array<bool, 2> mask);
std::tuple<at::Tensor, at::Tensor> linalg_lstsq_backward(const at::Tensor& grad, const at::Tensor& A, const at::Tensor& B, std::array<bool, 2> mask);
at::Tensor pinv_backward(const at::Tensor& grad, const at::Tensor& pinv, const at::Tensor& A);

/// Gradient of _cdist_forward for x1.
at::Tensor cdist_backward(const at::Tensor& grad, const at::Tensor& x1, const at::Tensor& x2, double p, const at::Tensor& dist);
at::Tensor pdist_backward(const at::Tensor& grad, const at::Tensor& self, double p, const at::Tensor& dist);
at::Tensor euclidean_dist_backward(const at::Tensor& grad, const at::Tensor& x1, const at::Tensor& x2, const at::Tensor& dist);

} // namespace torch::autograd::formulas
