// Formulas of forward mode for linear algebra, as in tangents.cpp. Written with operators, so that they can be
// differentiated again. They are the adjoints of the gradients in linalg_decompose.cpp and linalg_solve.cpp, also for
// tangents that are not what an operator asks of its argument, Hermitian say.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <autograd/formulas/matrices.h>
#include <autograd/formulas/shared.h>

#include <algorithm>
#include <vector>

namespace torch::autograd::formulas {

// Defined beside the gradients.
Tensor linalg_det_backward(
    const Tensor& grad, const Tensor& det, const Tensor& A, const Tensor& LU, const Tensor& pivots);
Tensor linalg_slogdet_backward(
    const Tensor& grad_sign,
    const Tensor& grad_logabsdet,
    const Tensor& A,
    const Tensor& sign,
    const Tensor& LU,
    const Tensor& pivots);

namespace {

Tensor hermitian_part(const Tensor& A) {
  return (A + A.mH()) * 0.5;
}

/// a - b, of which either may be undefined.
Tensor difference_of(const Tensor& a, const Tensor& b) {
  return !b.defined() ? a : a.defined() ? a - b : -b;
}

Tensor padded_with_zeros(const Tensor& t, int64_t dim, int64_t size) {
  if (t.size(dim) == size) {
    return t;
  }
  std::vector<int64_t> sizes = t.sizes().vec();
  sizes[static_cast<size_t>(dim + t.dim())] = size - t.size(dim);
  return at::cat({t, at::zeros(sizes, t.options())}, dim);
}

} // namespace

// ---- factorizations
// --------------------------------------------------------------------------------------------------

Tensor cholesky_tangent(const Tensor& A_t, bool upper, const Tensor& L_or_U) {
  // dL = L phi(L^-1 dA L^-H), where phi takes the lower triangle and half the diagonal.
  const Tensor L = upper ? L_or_U.mH() : L_or_U;
  const Tensor left = at::linalg_solve_triangular(L, A_t, /*upper=*/false);
  const Tensor inner = at::linalg_solve_triangular(L.mH(), left, /*upper=*/true, /*left=*/false);
  const Tensor phi = hermitian_part(inner).tril(-1) + (diagonal_of(inner) * 0.5).diag_embed();
  const Tensor L_t = L.matmul(phi);
  return upper ? L_t.mH() : L_t;
}

Tensor cholesky_inverse_tangent(const Tensor& L, const Tensor& L_t, bool upper, const Tensor& inverse) {
  const Tensor half = upper ? L_t.mH().matmul(L) : L_t.matmul(L.mH());
  return -inverse.matmul((half + half.mH()).matmul(inverse));
}

/// Of L and U with P L U = A.
std::vector<Tensor> linalg_lu_tangents(
    const Tensor& A_t, const Tensor& P, const Tensor& L, const Tensor& U, bool pivot) {
  const int64_t m = L.size(-2), n = U.size(-1), k = std::min(m, n);
  const Tensor rows_t = pivot ? P.mT().matmul(A_t) : A_t;
  const Tensor L1 = L.narrow(-2, 0, k), U1 = U.narrow(-1, 0, k);
  // Of the square part: L^-1 dA U^-1 = L^-1 dL + dU U^-1, whose summands are triangles.
  const Tensor square_t = rows_t.narrow(-2, 0, k).narrow(-1, 0, k);
  Tensor inner = at::linalg_solve_triangular(L1, square_t, /*upper=*/false, /*left=*/true, /*unitriangular=*/true);
  inner = at::linalg_solve_triangular(U1, inner, /*upper=*/true, /*left=*/false);
  Tensor L_t = L1.matmul(inner.tril(-1)), U_t = inner.triu().matmul(U1);
  if (m > k) {
    const Tensor rest = rows_t.narrow(-2, k, m - k) - L.narrow(-2, k, m - k).matmul(U_t);
    L_t = at::cat({L_t, at::linalg_solve_triangular(U1, rest, /*upper=*/true, /*left=*/false)}, -2);
  }
  if (n > k) {
    const Tensor rest = rows_t.narrow(-1, k, n - k) - L_t.matmul(U.narrow(-1, k, n - k));
    const Tensor solved = at::linalg_solve_triangular(L1, rest, /*upper=*/false, /*left=*/true, /*unitriangular=*/true);
    U_t = at::cat({U_t, solved}, -1);
  }
  return {Tensor(), L_t, U_t};
}

Tensor lu_factor_ex_tangent(const Tensor& A_t, const Tensor& LU, const Tensor& pivots, bool pivot) {
  const auto [P, L, U] = at::lu_unpack(LU, pivots, /*unpack_data=*/true, /*unpack_pivots=*/pivot);
  const std::vector<Tensor> tangents = linalg_lu_tangents(A_t, P, L, U, pivot);
  return padded_with_zeros(tangents[1], -1, LU.size(-1)) + padded_with_zeros(tangents[2], -2, LU.size(-2));
}

/// Of Q and R.
std::vector<Tensor> linalg_qr_tangents(const Tensor& A_t, const Tensor& Q, const Tensor& R, const std::string& mode) {
  const int64_t m = Q.size(-2), n = R.size(-1), k = std::min(m, n);
  TORCH_CHECK(
      mode != "r",
      "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
      "mode='reduced') if you are going to differentiate through linalg.qr.");
  TORCH_CHECK(
      mode != "complete" || m <= n,
      "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.");
  // With M = Q^H dA R^-1 and W skew: dQ = dA R^-1 - Q (M - W), dR = (M - W) R. W is what makes M - W upper triangular.
  const Tensor R1 = R.narrow(-1, 0, k);
  const Tensor right = at::linalg_solve_triangular(R1, A_t.narrow(-1, 0, k), /*upper=*/true, /*left=*/false);
  const Tensor M = Q.mH().matmul(right), below = M.tril(-1);
  const Tensor middle = M.is_complex() ? at::real(diagonal_of(M)).to(M.scalar_type()) : diagonal_of(M);
  const Tensor triangle = M.triu(1) + below.mH() + middle.diag_embed();
  const Tensor Q_t = right - Q.matmul(triangle);
  const Tensor R1_t = triangle.matmul(R1);
  if (n == k) {
    return {Q_t, R1_t};
  }
  // The other columns are Q R2.
  const Tensor R2 = R.narrow(-1, k, n - k), columns_t = A_t.narrow(-1, k, n - k);
  const Tensor R2_t = Q.mH().matmul(columns_t) + Q_t.mH().matmul(Q.matmul(R2));
  return {Q_t, at::cat({R1_t, R2_t}, -1)};
}

namespace {

/// Singular vectors' tangents, and those of the values, in the space that the vectors span.
struct SpectralTangents {
  Tensor U, S, V;
};

SpectralTangents spectral_tangents(const Tensor& A_t, const Tensor& U, const Tensor& S, const Tensor& Vh) {
  const Tensor V = Vh.mH();
  const Tensor right = A_t.matmul(V), inner = U.mH().matmul(right);
  const Tensor E = differences(S * S);
  // dU = U W, where W is skew; its diagonal, the phase of the vectors, is free but for the sum of both.
  const Tensor of_u = columns_times(inner, S), of_v = rows_times(inner, S);
  Tensor turn_u = (of_u + of_u.mH()) / E, turn_v = (of_v + of_v.mH()) / E;
  const Tensor none = at::zeros_like(S), along = diagonal_of(inner);
  turn_u = with_diagonal(turn_u, inner.is_complex() ? (along - along.conj()) / (2 * S) : none);
  turn_v = with_diagonal(turn_v, none);
  Tensor U_t = U.matmul(turn_u), V_t = V.matmul(turn_v);
  if (U.size(-2) > S.size(-1)) {
    U_t = U_t + columns_times(right - U.matmul(inner), S.reciprocal());
  }
  if (Vh.size(-1) > S.size(-1)) {
    V_t = V_t + columns_times(A_t.mH().matmul(U) - V.matmul(inner.mH()), S.reciprocal());
  }
  return {U_t, inner.is_complex() ? at::real(along) : along, V_t};
}

} // namespace

/// Of U, S and Vh. Of full matrices, vectors beyond the singular values have zeros.
std::vector<Tensor> svd_tangents(
    const Tensor& A,
    const Tensor& A_t,
    bool full_matrices,
    bool compute_uv,
    const Tensor& U,
    const Tensor& S,
    const Tensor& Vh) {
  if (!compute_uv) {
    const auto [left, values, right] = at::linalg_svd(A, /*full_matrices=*/false);
    const Tensor S_t = diagonal_of(left.mH().matmul(A_t).matmul(right.mH()));
    return {Tensor(), S_t.is_complex() ? at::real(S_t) : S_t, Tensor()};
  }
  const int64_t k = S.size(-1);
  const SpectralTangents t = full_matrices ? spectral_tangents(A_t, U.narrow(-1, 0, k), S, Vh.narrow(-2, 0, k))
                                           : spectral_tangents(A_t, U, S, Vh);
  return {padded_with_zeros(t.U, -1, U.size(-1)), t.S, padded_with_zeros(t.V.mH(), -2, Vh.size(-2))};
}

/// Of eigenvalues and eigenvectors of Hermitian matrices.
std::vector<Tensor> linalg_eigh_tangents(
    const Tensor& A, const Tensor& A_t, const std::string& UPLO, bool compute_v, const Tensor& L, const Tensor& V) {
  const Tensor vectors = compute_v ? V : std::get<1>(at::linalg_eigh(A, UPLO));
  const Tensor inner = vectors.mH().matmul(A_t).matmul(vectors), along = diagonal_of(inner);
  const Tensor L_t = inner.is_complex() ? at::real(along) : along;
  if (!compute_v) {
    return {L_t, Tensor()};
  }
  const Tensor turn = with_diagonal(hermitian_part(inner) / differences(L), at::zeros_like(L));
  return {L_t, V.matmul(turn)};
}

/// Of eigenvalues and eigenvectors, which have length one.
std::vector<Tensor> linalg_eig_tangents(const Tensor& self_t, const Tensor& L, const Tensor& V) {
  const Tensor inner = at::linalg_solve(V, self_t.to(V.scalar_type()).matmul(V));
  const Tensor turn = with_diagonal(inner / differences(L), at::zeros_like(L));
  const Tensor grown = V.matmul(turn);
  const Tensor along = at::real((V.conj() * grown).sum({-2}));
  return {diagonal_of(inner), grown - columns_times(V, along.to(V.scalar_type()))};
}

// ---- determinants and functions of matrices
// ----------------------------------------------------------------------------

Tensor linalg_det_tangent(
    const Tensor& A, const Tensor& A_t, const Tensor& det, const Tensor& LU, const Tensor& pivots) {
  return (linalg_det_backward(at::ones_like(det), det, A, LU, pivots).conj() * A_t).sum({-2, -1});
}

/// Of the sign and of the logarithm.
std::vector<Tensor> linalg_slogdet_tangents(
    const Tensor& A,
    const Tensor& A_t,
    const Tensor& sign,
    const Tensor& logabsdet,
    const Tensor& LU,
    const Tensor& pivots) {
  const Tensor inverse = linalg_slogdet_backward({}, at::ones_like(logabsdet), A, sign, LU, pivots).mH();
  const Tensor trace = (inverse.mT() * A_t).sum({-2, -1});
  if (!A.is_complex()) {
    return {Tensor(), trace, Tensor(), Tensor()};
  }
  return {sign * (trace - trace.conj()) * 0.5, at::real(trace), Tensor(), Tensor()};
}

Tensor pinv_tangent(const Tensor& A, const Tensor& A_t, const Tensor& pinv) {
  const Tensor pinv_h = pinv.mH(), A_t_h = A_t.mH();
  const Tensor left = pinv.matmul(pinv_h).matmul(A_t_h), right = A_t_h.matmul(pinv_h).matmul(pinv);
  return left - left.matmul(A).matmul(pinv) + right - pinv.matmul(A).matmul(right) - pinv.matmul(A_t).matmul(pinv);
}

// ---- linear systems
// ----------------------------------------------------------------------------------------------------

Tensor linalg_solve_tangent(
    const Tensor& A,
    const Tensor& A_t,
    const Tensor& B,
    const Tensor& B_t,
    const Tensor& X,
    const Tensor& LU,
    const Tensor& pivots,
    bool left) {
  const bool vector = is_vector(A, B.sizes());
  const auto matrix = [vector](const Tensor& t) { return vector && t.defined() ? t.unsqueeze(-1) : t; };
  Tensor product;
  if (A_t.defined()) {
    product = left ? A_t.matmul(matrix(X)) : matrix(X).matmul(A_t);
  }
  const Tensor rhs = difference_of(matrix(B_t), product);
  Tensor X_t;
  if (is_differentiated_again(A, A_t, B_t, X)) {
    X_t = at::linalg_solve(A, rhs, left);
  } else {
    // The forward pass has factored the transpose of a real matrix that is row-major.
    const bool transposed = A.is_contiguous() && !A.is_complex();
    X_t = at::linalg_lu_solve(LU, pivots, rhs, left, /*adjoint=*/transposed);
  }
  return vector ? X_t.squeeze(-1) : X_t;
}

Tensor linalg_lu_solve_tangent(
    const Tensor& LU,
    const Tensor& LU_t,
    const Tensor& pivots,
    const Tensor& B_t,
    const Tensor& X,
    bool left,
    bool adjoint) {
  Tensor product;
  if (LU_t.defined()) {
    const auto [P, L, U] = at::lu_unpack(LU, pivots);
    const Tensor A_t = P.matmul(LU_t.tril(-1).matmul(U) + L.matmul(LU_t.triu()));
    const Tensor factor = adjoint ? A_t.mH() : A_t;
    product = left ? factor.matmul(X) : X.matmul(factor);
  }
  return at::linalg_lu_solve(LU, pivots, difference_of(B_t, product), left, adjoint);
}

Tensor linalg_solve_triangular_tangent(
    const Tensor& A, const Tensor& A_t, const Tensor& B_t, const Tensor& X, bool upper, bool left, bool unitriangular) {
  Tensor product;
  if (A_t.defined()) {
    const Tensor triangle_t = upper ? A_t.triu(unitriangular ? 1 : 0) : A_t.tril(unitriangular ? -1 : 0);
    product = left ? triangle_t.matmul(X) : X.matmul(triangle_t);
  }
  return at::linalg_solve_triangular(A, difference_of(B_t, product), upper, left, unitriangular);
}

/// Of the solution and of the copy of A.
std::vector<Tensor> triangular_solve_tangents(
    const Tensor& b_t,
    const Tensor& A,
    const Tensor& A_t,
    const Tensor& X,
    bool upper,
    bool transpose,
    bool unitriangular) {
  Tensor product;
  if (A_t.defined()) {
    const Tensor triangle_t = upper ? A_t.triu(unitriangular ? 1 : 0) : A_t.tril(unitriangular ? -1 : 0);
    product = (transpose ? triangle_t.mT() : triangle_t).matmul(X);
  }
  const Tensor rhs = difference_of(b_t, product);
  return {std::get<0>(at::triangular_solve(rhs, A, upper, transpose, unitriangular)), A_t};
}

Tensor cholesky_solve_tangent(const Tensor& B_t, const Tensor& L, const Tensor& L_t, const Tensor& X, bool upper) {
  Tensor product;
  if (L_t.defined()) {
    const Tensor half = upper ? L_t.mH().matmul(L) : L_t.matmul(L.mH());
    product = (half + half.mH()).matmul(X);
  }
  return at::cholesky_solve(difference_of(B_t, product), L, upper);
}

/// The solution of least norm is pinv(A) B.
Tensor linalg_lstsq_tangent(const Tensor& A, const Tensor& A_t, const Tensor& B, const Tensor& B_t) {
  const bool vector = is_vector(A, B.sizes());
  const auto matrix = [vector](const Tensor& t) { return vector ? t.unsqueeze(-1) : t; };
  const Tensor inverse = at::linalg_pinv(A, std::optional<double>(), std::optional<double>());
  const Tensor tangent = sum_of(
      A_t.defined() ? pinv_tangent(A, A_t, inverse).matmul(matrix(B)) : Tensor(),
      B_t.defined() ? inverse.matmul(matrix(B_t)) : Tensor());
  return vector ? tangent.squeeze(-1) : tangent;
}

} // namespace torch::autograd::formulas
