// Gradients of solutions of linear systems, of pseudo-inverses and of distances between rows. All are written with
// operators, so that they can be differentiated again.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <autograd/formulas/matrices.h>
#include <autograd/formulas/shared.h>

#include <cmath>

namespace torch::autograd::formulas {

namespace {

/// The triangle of a gradient that belongs to a triangular matrix.
Tensor triangle(const Tensor& grad, bool upper, bool unitriangular) {
  return upper ? grad.triu(unitriangular ? 1 : 0) : grad.tril(unitriangular ? -1 : 0);
}

} // namespace

bool is_vector(const Tensor& A, IntArrayRef b_sizes) {
  const bool has_batch_of_a = A.dim() - 1 == static_cast<int64_t>(b_sizes.size());
  return b_sizes.size() == 1 || (has_batch_of_a && b_sizes == A.sizes().slice(0, A.dim() - 1));
}

/// Gradients for A and B; B had sizes `b_sizes`, which say whether it was a vector.
std::tuple<Tensor, Tensor> linalg_solve_backward(
    const Tensor& grad,
    const Tensor& X,
    const Tensor& A,
    at::IntArrayRef b_sizes,
    const Tensor& LU,
    const Tensor& pivots,
    bool left,
    std::array<bool, 2> mask) {
  if (!grad.defined() || (!mask[0] && !mask[1])) {
    return {};
  }
  const bool vector = is_vector(A, b_sizes);
  Tensor grad_B;
  if (is_differentiated_again(grad, A, X)) {
    grad_B = at::linalg_solve(A.mH(), grad, left);
  } else {
    // The forward pass has factored the transpose of a real matrix that is row-major.
    const bool transposed = A.is_contiguous() && !A.is_complex();
    const Tensor rhs = vector ? grad.unsqueeze(-1) : grad;
    grad_B = at::linalg_lu_solve(LU, pivots, rhs, left, /*adjoint=*/!transposed);
    if (vector) {
      grad_B = grad_B.squeeze(-1);
    }
  }
  Tensor grad_A;
  if (mask[0]) {
    const Tensor G = vector ? grad_B.unsqueeze(-1) : grad_B, solution = vector ? X.unsqueeze(-1) : X;
    grad_A = left ? -G.matmul(solution.mH()) : -solution.mH().matmul(G);
  }
  return {grad_A, mask[1] ? grad_B : Tensor()};
}

/// Gradient for both triangles of LU.
Tensor linalg_lu_solve_LU(
    const Tensor& grad, const Tensor& LU, const Tensor& pivots, const Tensor& X, bool left, bool adjoint) {
  if (!grad.defined()) {
    return {};
  }
  const auto [P, L, U] = at::lu_unpack(LU, pivots, /*unpack_data=*/true, /*unpack_pivots=*/left == adjoint);
  // With A = P L U the gradient of A is -A^-H G X^H (or its like from the right); it goes on to L and U, whose
  // triangles share LU.
  if (left != adjoint) {
    const Tensor product = left ? grad.matmul(X.mH()) : grad.mH().matmul(X);
    const Tensor grad_U = at::linalg_solve_triangular(U.mH(), -product, /*upper=*/false);
    const Tensor grad_L = at::linalg_solve_triangular(
        L.mH(), grad_U.matmul(U.mH()), /*upper=*/true, /*left=*/true, /*unitriangular=*/true);
    return grad_L.tril(-1) + grad_U.triu();
  }
  const Tensor product = left ? X.matmul(grad.mH()) : X.mH().matmul(grad);
  const Tensor grad_L = at::linalg_solve_triangular(
      L.mH(), -P.mT().matmul(product).matmul(P), /*upper=*/true, /*left=*/false, /*unitriangular=*/true);
  const Tensor grad_U = at::linalg_solve_triangular(U.mH(), L.mH().matmul(grad_L), /*upper=*/false, /*left=*/false);
  return grad_L.tril(-1) + grad_U.triu();
}

std::tuple<Tensor, Tensor> linalg_solve_triangular_backward(
    const Tensor& grad,
    const Tensor& A,
    const Tensor& X,
    bool upper,
    bool left,
    bool unitriangular,
    std::array<bool, 2> mask) {
  if (!grad.defined() || (!mask[0] && !mask[1])) {
    return {};
  }
  const Tensor grad_B = at::linalg_solve_triangular(A.mH(), grad, !upper, left, unitriangular);
  Tensor grad_A;
  if (mask[0]) {
    grad_A = triangle(left ? -grad_B.matmul(X.mH()) : -X.mH().matmul(grad_B), upper, unitriangular);
  }
  return {grad_A, mask[1] ? grad_B : Tensor()};
}

/// Gradients for b and A.
std::tuple<Tensor, Tensor> triangular_solve_backward(
    const Tensor& grad_x,
    const Tensor& grad_m,
    const Tensor& A,
    const Tensor& X,
    bool upper,
    bool transpose,
    bool unitriangular,
    std::array<bool, 2> mask) {
  Tensor grad_b, grad_A;
  if (grad_x.defined()) {
    grad_b = std::get<0>(at::triangular_solve(grad_x, A.conj(), upper, !transpose, unitriangular));
    if (mask[1]) {
      grad_A = triangle(transpose ? -X.conj().matmul(grad_b.mT()) : -grad_b.matmul(X.mH()), upper, unitriangular);
    }
  }
  if (mask[1] && grad_m.defined()) {
    grad_A = grad_A.defined() ? grad_A + grad_m : grad_m;
  }
  return {mask[0] ? grad_b : Tensor(), grad_A};
}

std::tuple<Tensor, Tensor> cholesky_solve_backward(
    const Tensor& grad, const Tensor& L, const Tensor& X, bool upper, std::array<bool, 2> mask) {
  if (!grad.defined()) {
    return {};
  }
  const Tensor grad_B = at::cholesky_solve(grad, L, upper);
  Tensor grad_L;
  if (mask[1]) {
    const Tensor half = grad_B.matmul(X.mH());
    const Tensor common = half + half.mH();
    grad_L = upper ? -L.matmul(common) : -common.matmul(L);
  }
  return {mask[0] ? grad_B : Tensor(), grad_L};
}

Tensor pinv_backward(const Tensor& grad, const Tensor& pinv, const Tensor& A) {
  if (!grad.defined()) {
    return {};
  }
  const Tensor pinv_h = pinv.mH(), grad_h = grad.mH();
  // The same sum, multiplied in the order that keeps the products small.
  if (A.size(-2) <= A.size(-1)) {
    const Tensor K = grad_h.matmul(pinv), K_pinv_h = K.matmul(pinv_h);
    return -(pinv.matmul(K)).mH() + K_pinv_h - A.matmul(pinv).matmul(K_pinv_h) +
        pinv_h.matmul(pinv).matmul(grad_h - K.matmul(A));
  }
  const Tensor K = pinv.matmul(grad_h), pinv_h_K = pinv_h.matmul(K);
  return -(K.matmul(pinv)).mH() + (grad_h - A.matmul(K)).matmul(pinv).matmul(pinv_h) + pinv_h_K -
      pinv_h_K.matmul(pinv).matmul(A);
}

std::tuple<Tensor, Tensor> linalg_lstsq_backward(
    const Tensor& grad, const Tensor& A, const Tensor& B, std::array<bool, 2> mask) {
  if (!grad.defined()) {
    return {};
  }
  const bool vector = is_vector(A, B.sizes());
  const auto matrix = [vector](const Tensor& t) { return vector ? t.unsqueeze(-1) : t; };
  // The solution of least norm is pinv(A) B.
  const Tensor inverse = at::linalg_pinv(A, std::optional<double>(), std::optional<double>());
  const Tensor G = matrix(grad);
  Tensor grad_A, grad_B;
  if (mask[0]) {
    grad_A = pinv_backward(G.matmul(matrix(B).mH()), inverse, A);
  }
  if (mask[1]) {
    grad_B = inverse.mH().matmul(G);
  }
  if (vector && grad_B.defined()) {
    grad_B = grad_B.squeeze(-1);
  }
  return {grad_A, grad_B};
}

// ---- distances
// -----------------------------------------------------------------------------------------------------------

namespace {

/// grad * d distance / d difference, for differences whose last dimension the distance sums over.
Tensor difference_gradient(const Tensor& grad, const Tensor& difference, double p, const Tensor& dist) {
  const Tensor g = grad.unsqueeze(-1), d = dist.unsqueeze(-1);
  if (p == 0) {
    return at::zeros_like(difference);
  }
  if (p == 1) {
    return g * difference.sign();
  }
  if (std::isinf(p)) {
    return g * difference.sign() * (difference.abs() == d);
  }
  // Where the distance is zero there is no slope; dividing by one there keeps NaN out of the second derivative as well.
  const Tensor nonzero = at::where(d == 0, at::ones({}, d.options()), d);
  const Tensor factor = at::where(d == 0, at::zeros({}, g.options()), g / nonzero.pow(p - 1));
  if (p == 2) {
    return factor * difference;
  }
  const Tensor zero = difference == 0;
  const Tensor size = at::where(zero, at::ones({}, d.options()), difference.abs());
  return at::where(zero, at::zeros({}, g.options()), factor * difference.sign() * size.pow(p - 1));
}

/// The tangent of distances, from that of the differences.
Tensor distance_tangent(const Tensor& difference, const Tensor& difference_t, double p, const Tensor& dist) {
  return (difference_gradient(at::ones_like(dist), difference, p, dist) * difference_t).sum({-1});
}

} // namespace

Tensor cdist_tangent(
    const Tensor& x1, const Tensor& x1_t, const Tensor& x2, const Tensor& x2_t, double p, const Tensor& dist) {
  const Tensor rows_t = x1_t.defined() ? x1_t.unsqueeze(-2) : x1_t;
  const Tensor columns_t = x2_t.defined() ? -x2_t.unsqueeze(-3) : x2_t;
  return distance_tangent(x1.unsqueeze(-2) - x2.unsqueeze(-3), sum_of(rows_t, columns_t), p, dist);
}

Tensor pdist_tangent(const Tensor& self, const Tensor& self_t, double p, const Tensor& dist) {
  const Tensor pairs = at::triu_indices(self.size(0), self.size(0), 1, self.options().dtype(at::kLong));
  const auto differences_of = [&](const Tensor& t) {
    return t.index_select(0, pairs.select(0, 0)) - t.index_select(0, pairs.select(0, 1));
  };
  return distance_tangent(differences_of(self), differences_of(self_t), p, dist);
}

/// Gradient of _cdist_forward for x1.
Tensor cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, const Tensor& dist) {
  if (!grad.defined()) {
    return {};
  }
  if (!is_differentiated_again(grad, x1, x2)) {
    return at::_cdist_backward(grad, x1, x2, p, dist);
  }
  const Tensor difference = x1.unsqueeze(-2) - x2.unsqueeze(-3);
  return difference_gradient(grad, difference, p, dist).sum({-2});
}

Tensor pdist_backward(const Tensor& grad, const Tensor& self, double p, const Tensor& dist) {
  if (!grad.defined()) {
    return {};
  }
  if (!is_differentiated_again(grad, self)) {
    return at::_pdist_backward(grad, self, p, dist);
  }
  const Tensor pairs = at::triu_indices(self.size(0), self.size(0), 1, self.options().dtype(at::kLong));
  const Tensor first = pairs.select(0, 0), second = pairs.select(0, 1);
  const Tensor pushes = difference_gradient(grad, self.index_select(0, first) - self.index_select(0, second), p, dist);
  return at::zeros_like(self).index_add(0, first, pushes).index_add(0, second, pushes, -1);
}

Tensor euclidean_dist_tangent(
    const Tensor& x1, const Tensor& x1_t, const Tensor& x2, const Tensor& x2_t, const Tensor& dist) {
  const auto half_of_square = [](const Tensor& a, const Tensor& a_t, const Tensor& b) {
    return a_t.defined() ? (a * a_t).sum({-1}, /*keepdim=*/true) - a_t.matmul(b.mT()) : a_t;
  };
  const Tensor of_columns = half_of_square(x2, x2_t, x1);
  const Tensor half = sum_of(half_of_square(x1, x1_t, x2), of_columns.defined() ? of_columns.mT() : of_columns);
  const Tensor zero = dist == 0;
  return at::where(zero, at::zeros({}, dist.options()), half / at::where(zero, at::ones({}, dist.options()), dist));
}

Tensor euclidean_dist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, const Tensor& dist) {
  if (!grad.defined()) {
    return {};
  }
  const Tensor ratio = at::where(
      dist == 0, at::zeros({}, grad.options()), grad / at::where(dist == 0, at::ones({}, dist.options()), dist));
  return x1 * ratio.sum({-1}, /*keepdim=*/true) - ratio.matmul(x2);
}

} // namespace torch::autograd::formulas
