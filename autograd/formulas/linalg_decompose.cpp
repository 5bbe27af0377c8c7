// Gradients of matrix factorizations. All are written with operators, so that they can be differentiated again.
//
// For complex matrices the gradient is the conjugate Wirtinger derivative: <G, dA> = Re tr(G^H dA). Undefined gradients
// are zero.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <autograd/formulas/matrices.h>
#include <autograd/formulas/shared.h>

#include <algorithm>

namespace torch::autograd::formulas {

Tensor columns_times(const Tensor& A, const Tensor& d) {
  return A * d.unsqueeze(-2);
}

Tensor rows_times(const Tensor& A, const Tensor& d) {
  return A * d.unsqueeze(-1);
}

Tensor diagonal_of(const Tensor& A) {
  return A.diagonal(0, -2, -1);
}

Tensor with_diagonal(const Tensor& A, const Tensor& diagonal) {
  return A.tril(-1) + A.triu(1) + diagonal.to(A.scalar_type()).diag_embed();
}

Tensor differences(const Tensor& values) {
  const Tensor E = values.unsqueeze(-2) - values.unsqueeze(-1);
  return E + at::eye(values.size(-1), values.options());
}

namespace {

void check_phase(const char* op, const Tensor& imaginary, const Tensor& scale) {
  const Tensor bad = imaginary.abs() > scale.abs() * 1e-2 + 1e-2;
  TORCH_CHECK(
      !bad.any().item().to<bool>(), op,
      ": The eigenvectors (or singular vectors) in the complex case are specified up to multiplication by e^{i phi}. "
      "The specified "
      "loss function depends on this quantity, so it is ill-defined.");
}

} // namespace

// ---- Cholesky
// ------------------------------------------------------------------------------------------------------------

Tensor cholesky_backward(const Tensor& grad, bool upper, const Tensor& L_or_U) {
  if (!grad.defined()) {
    return {};
  }
  // dL = L phi(L^-1 dA L^-H), where phi takes the lower triangle and half the diagonal; this is its adjoint on
  // Hermitian dA.
  const Tensor L = upper ? L_or_U.mH() : L_or_U, grad_L = upper ? grad.mH() : grad;
  const Tensor product = L.mH().matmul(grad_L);
  const Tensor below = product.tril(-1);
  const Tensor phi = (below + below.mH() + diagonal_of(product).diag_embed()) * 0.5;
  const Tensor result = at::linalg_solve_triangular(L.mH(), phi, /*upper=*/true, /*left=*/true);
  return at::linalg_solve_triangular(L, result, /*upper=*/false, /*left=*/false);
}

Tensor cholesky_inverse_backward(const Tensor& grad, const Tensor& L, bool upper, const Tensor& inverse) {
  if (!grad.defined()) {
    return {};
  }
  const Tensor common = inverse.matmul((grad + grad.mH()).matmul(inverse));
  return upper ? -L.matmul(common) : -common.matmul(L);
}

// ---- LU
// ------------------------------------------------------------------------------------------------------------------

namespace {

/// Gradient of the square top A1 = L1 U1, L1 having ones on its diagonal.
Tensor square_lu_backward(const Tensor& grad_L, const Tensor& grad_U, const Tensor& L, const Tensor& U) {
  Tensor inner;
  if (grad_L.defined()) {
    inner = L.mH().matmul(grad_L).tril(-1);
  }
  if (grad_U.defined()) {
    inner = sum_of(inner, grad_U.matmul(U.mH()).triu());
  }
  inner = at::linalg_solve_triangular(L.mH(), inner, /*upper=*/true, /*left=*/true, /*unitriangular=*/true);
  return at::linalg_solve_triangular(U.mH(), inner, /*upper=*/false, /*left=*/false);
}

} // namespace

Tensor linalg_lu_backward(
    const Tensor& grad_L, const Tensor& grad_U, const Tensor& P, const Tensor& L, const Tensor& U, bool pivot) {
  if (!grad_L.defined() && !grad_U.defined()) {
    return {};
  }
  const int64_t m = L.size(-2), n = U.size(-1), k = std::min(m, n);
  Tensor result;
  if (m == n) {
    result = square_lu_backward(grad_L, grad_U, L, U);
  } else if (m < n) {
    // [A1 A2] = L [U1 U2]: U2 = L^-1 A2 sends its gradient to A2 and to L.
    const Tensor U1 = U.narrow(-1, 0, k), U2 = U.narrow(-1, k, n - k);
    if (grad_U.defined()) {
      const Tensor grad_A2 = at::linalg_solve_triangular(
          L.mH(), grad_U.narrow(-1, k, n - k), /*upper=*/true, /*left=*/true, /*unitriangular=*/true);
      const Tensor all_grad_L = sum_of(grad_L, -grad_A2.matmul(U2.mH()));
      result = at::cat({square_lu_backward(all_grad_L, grad_U.narrow(-1, 0, k), L, U1), grad_A2}, -1);
    } else {
      const Tensor grad_A1 = square_lu_backward(grad_L, {}, L, U1);
      result = at::cat({grad_A1, at::zeros_like(U2)}, -1);
    }
  } else {
    // [A1; A2] = [L1; L2] U: L2 = A2 U^-1 sends its gradient to A2 and to U.
    const Tensor L1 = L.narrow(-2, 0, k), L2 = L.narrow(-2, k, m - k);
    if (grad_L.defined()) {
      const Tensor grad_A2 =
          at::linalg_solve_triangular(U.mH(), grad_L.narrow(-2, k, m - k), /*upper=*/false, /*left=*/false);
      const Tensor all_grad_U = sum_of(grad_U, -L2.mH().matmul(grad_A2));
      result = at::cat({square_lu_backward(grad_L.narrow(-2, 0, k), all_grad_U, L1, U), grad_A2}, -2);
    } else {
      result = at::cat({square_lu_backward({}, grad_U, L1, U), at::zeros_like(L2)}, -2);
    }
  }
  return pivot ? P.matmul(result) : result;
}

Tensor lu_factor_ex_backward(const Tensor& grad, const Tensor& LU, const Tensor& pivots, bool pivot) {
  if (!grad.defined()) {
    return {};
  }
  const auto [P, L, U] = at::lu_unpack(LU, pivots, /*unpack_data=*/true, /*unpack_pivots=*/pivot);
  const int64_t k = std::min(LU.size(-2), LU.size(-1));
  return linalg_lu_backward(grad.narrow(-1, 0, k), grad.narrow(-2, 0, k), P, L, U, pivot);
}

/// Of matrices of rows x cols.
Tensor lu_unpack_backward(const Tensor& grad_L, const Tensor& grad_U, int64_t rows, int64_t cols) {
  const auto widened = [&](const Tensor& t) {
    std::vector<int64_t> sizes = t.sizes().vec();
    Tensor result = t;
    if (result.size(-2) < rows) {
      sizes[sizes.size() - 2] = rows - result.size(-2);
      result = at::cat({result, at::zeros(sizes, t.options())}, -2);
    }
    if (result.size(-1) < cols) {
      sizes = result.sizes().vec();
      sizes.back() = cols - result.size(-1);
      result = at::cat({result, at::zeros(sizes, t.options())}, -1);
    }
    return result;
  };
  return sum_of(
      grad_L.defined() ? widened(grad_L.tril(-1)) : Tensor(), grad_U.defined() ? widened(grad_U.triu()) : Tensor());
}

// ---- determinants and inverses
// ---------------------------------------------------------------------------------------------

namespace {

/// Each number replaced by the product of all others along the last dimension.
Tensor products_of_others(const Tensor& t) {
  const int64_t n = t.size(-1);
  std::vector<int64_t> sizes = t.sizes().vec();
  sizes.back() = 1;
  const Tensor one = at::ones(sizes, t.options());
  const Tensor before = at::cat({one, t.narrow(-1, 0, n - 1)}, -1).cumprod(-1);
  const Tensor after = at::cat({one, t.narrow(-1, 1, n - 1).flip({-1})}, -1).cumprod(-1).flip({-1});
  return before * after;
}

/// The adjugate's conjugate transpose, which is the gradient of a determinant, also where the matrix has no inverse.
Tensor adjugate(const Tensor& A) {
  const auto [U, S, Vh] = at::linalg_svd(A, /*full_matrices=*/false);
  const Tensor phase = (at::linalg_det(U) * at::linalg_det(Vh)).conj();
  return phase.unsqueeze(-1).unsqueeze(-1) * columns_times(U, products_of_others(S).to(U.scalar_type())).matmul(Vh);
}

/// X with A^H X = diag(d), one number d for each matrix.
Tensor solve_adjoint(const Tensor& A, const Tensor& LU, const Tensor& pivots, const Tensor& d) {
  const Tensor rhs = d.unsqueeze(-1).expand(pivots.sizes()).diag_embed();
  if (is_differentiated_again(A, d)) {
    return at::linalg_solve(A.mH(), rhs);
  }
  // The forward pass has factored the transpose of a real matrix that is row-major.
  const bool transposed = A.is_contiguous() && !A.is_complex();
  return at::linalg_lu_solve(LU, pivots, rhs, /*left=*/true, /*adjoint=*/!transposed);
}

} // namespace

Tensor linalg_det_backward(
    const Tensor& grad, const Tensor& det, const Tensor& A, const Tensor& LU, const Tensor& pivots) {
  if (!grad.defined()) {
    return {};
  }
  if (A.numel() == 0) {
    return at::zeros_like(A);
  }
  // The determinant of one number is that number.
  if (A.size(-1) == 1) {
    return grad.unsqueeze(-1).unsqueeze(-1).expand(A.sizes());
  }
  const bool singular = (diagonal_of(LU) == 0).any().item().to<bool>();
  if (singular) {
    return grad.unsqueeze(-1).unsqueeze(-1) * adjugate(A);
  }
  return solve_adjoint(A, LU, pivots, grad * det.conj());
}

Tensor linalg_slogdet_backward(
    const Tensor& grad_sign,
    const Tensor& grad_logabsdet,
    const Tensor& A,
    const Tensor& sign,
    const Tensor& LU,
    const Tensor& pivots) {
  const bool phase = A.is_complex() && grad_sign.defined();
  if (!phase && !grad_logabsdet.defined()) {
    return A.numel() == 0 || !grad_sign.defined() ? Tensor() : at::zeros_like(A);
  }
  // With z = tr(A^-1 dA): d logabsdet = Re z, and d sign = i Im(z) sign.
  Tensor weight = grad_logabsdet;
  if (phase) {
    const Tensor turn = at::imag(grad_sign.conj() * sign);
    const Tensor real = weight.defined() ? weight : at::zeros_like(turn);
    weight = at::view_as_complex(at::stack({real, -turn}, -1));
  }
  if (A.is_complex() && !weight.is_complex()) {
    weight = weight.to(A.scalar_type());
  }
  return solve_adjoint(A, LU, pivots, weight);
}

Tensor linalg_inv_backward(const Tensor& grad, const Tensor& inverse) {
  if (!grad.defined()) {
    return {};
  }
  const Tensor adjoint = inverse.mH();
  return -adjoint.matmul(grad.matmul(adjoint));
}

// ---- QR
// --------------------------------------------------------------------------------------------------------------------

Tensor linalg_qr_backward(
    const Tensor& grad_Q, const Tensor& grad_R, const Tensor& Q, const Tensor& R, std::string_view mode) {
  TORCH_CHECK(
      mode != "r",
      "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
      "mode='reduced') if "
      "you are going to differentiate through linalg.qr.");
  const int64_t m = Q.size(-2), n = R.size(-1);
  TORCH_CHECK(
      mode != "complete" || m <= n,
      "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.");
  if (!grad_Q.defined() && !grad_R.defined()) {
    return {};
  }
  // dQ = (1 - Q Q^H) dA R^-1 + Q W with W skew, dR = (Q^H dA R^-1 - W) R: W is what makes dR upper triangular.
  const auto tall = [&](const Tensor& gQ, const Tensor& gR, const Tensor& R_square) {
    Tensor M;
    if (gQ.defined()) {
      M = Q.mH().matmul(gQ);
    }
    if (gR.defined()) {
      M = sum_of(M, -gR.matmul(R_square.mH()));
    }
    const Tensor upper = M.triu(1);
    const Tensor middle = M.is_complex() ? at::real(diagonal_of(M)).to(M.scalar_type()) : diagonal_of(M);
    const Tensor hermitian = upper + upper.mH() + middle.diag_embed();
    const Tensor right = sum_of(gQ, -Q.matmul(hermitian));
    return at::linalg_solve_triangular(R_square.mH(), right, /*upper=*/false, /*left=*/false);
  };
  if (m >= n) {
    return tall(grad_Q, grad_R, R);
  }
  // [X Y] = Q [U V]: V = Q^H Y sends its gradient to Y and to Q.
  const Tensor U = R.narrow(-1, 0, m), V = R.narrow(-1, m, n - m);
  if (!grad_R.defined()) {
    return at::cat({tall(grad_Q, {}, U), at::zeros_like(V)}, -1);
  }
  const Tensor grad_V = grad_R.narrow(-1, m, n - m);
  const Tensor grad_Y = Q.matmul(grad_V);
  const Tensor Y = Q.matmul(V);
  return at::cat({tall(sum_of(grad_Q, Y.matmul(grad_V.mH())), grad_R.narrow(-1, 0, m), U), grad_Y}, -1);
}

namespace {

/// Gradients of H_1 ... H_k C for reflectors H = 1 - tau v v^H.
struct ReflectorGradients {
  std::vector<Tensor> vectors, scales; // of each v (a column), of each tau
  Tensor right; // of C
};

ReflectorGradients reflectors_backward(
    const Tensor& grad, const std::vector<Tensor>& vectors, const std::vector<Tensor>& scales, const Tensor& C) {
  const size_t k = vectors.size();
  const auto apply = [](const Tensor& v, const Tensor& tau, const Tensor& t) {
    return t - tau * v.matmul(v.mH().matmul(t));
  };
  std::vector<Tensor> behind(k + 1); // behind[i] = H_{i+1} ... H_k C
  behind[k] = C;
  for (size_t i = k; i-- > 0;) {
    behind[i] = apply(vectors[i], scales[i], behind[i + 1]);
  }
  ReflectorGradients result;
  Tensor G = grad;
  for (size_t i = 0; i < k; ++i) {
    const Tensor& v = vectors[i];
    const Tensor& tau = scales[i];
    const Tensor& S = behind[i + 1];
    const Tensor a = S.mH().matmul(v), b = G.mH().matmul(v);
    result.scales.push_back(-(b.conj() * a).sum({-2}, /*keepdim=*/true));
    result.vectors.push_back(-(tau.conj() * G.matmul(a)) - tau * S.matmul(b));
    G = apply(v, tau.conj(), G);
  }
  result.right = G;
  return result;
}

/// The tangent of H_1 ... H_k C.
Tensor reflectors_tangent(
    const std::vector<Tensor>& vectors,
    const std::vector<Tensor>& vectors_t,
    const std::vector<Tensor>& scales,
    const std::vector<Tensor>& scales_t,
    const Tensor& C,
    const Tensor& C_t) {
  Tensor product = C, tangent = C_t;
  for (size_t i = vectors.size(); i-- > 0;) {
    const Tensor &v = vectors[i], &tau = scales[i];
    const Tensor along = v.mH().matmul(product);
    const Tensor along_t = vectors_t[i].mH().matmul(product) + v.mH().matmul(tangent);
    tangent = tangent - (scales_t[i] * v + tau * vectors_t[i]).matmul(along) - tau * v.matmul(along_t);
    product = product - tau * v.matmul(along);
  }
  return tangent;
}

/// Column i of the unit lower triangle, and tau[i] as a matrix of one number.
std::pair<std::vector<Tensor>, std::vector<Tensor>> reflectors_of(const Tensor& input, const Tensor& tau) {
  const int64_t k = tau.size(-1);
  std::pair<std::vector<Tensor>, std::vector<Tensor>> result;
  const Tensor below = input.narrow(-1, 0, k).tril(-1);
  const Tensor unit = below + at::eye(input.size(-2), k, input.options());
  for (int64_t i = 0; i < k; ++i) {
    result.first.push_back(unit.narrow(-1, i, 1));
    result.second.push_back(tau.narrow(-1, i, 1).unsqueeze(-1));
  }
  return result;
}

/// The same of their tangents, where the ones on the diagonal do not move.
std::pair<std::vector<Tensor>, std::vector<Tensor>> reflectors_tangents_of(
    const Tensor& input, const Tensor& input_t, const Tensor& tau, const Tensor& tau_t) {
  const Tensor below = (input_t.defined() ? input_t : at::zeros_like(input)).narrow(-1, 0, tau.size(-1)).tril(-1);
  const Tensor scales = tau_t.defined() ? tau_t : at::zeros_like(tau);
  std::pair<std::vector<Tensor>, std::vector<Tensor>> result;
  for (int64_t i = 0; i < tau.size(-1); ++i) {
    result.first.push_back(below.narrow(-1, i, 1));
    result.second.push_back(scales.narrow(-1, i, 1).unsqueeze(-1));
  }
  return result;
}

/// H_1 ... H_k becomes its adjoint.
void make_adjoint(std::vector<Tensor>& vectors, std::vector<Tensor>& scales) {
  std::reverse(vectors.begin(), vectors.end());
  std::reverse(scales.begin(), scales.end());
  for (Tensor& scale : scales) {
    scale = scale.conj();
  }
}

/// The gradients of columns and scales put together again.
std::tuple<Tensor, Tensor> joined_gradients(const ReflectorGradients& gradients, const Tensor& input) {
  const int64_t k = static_cast<int64_t>(gradients.vectors.size()), rest = input.size(-1) - k;
  if (k == 0) {
    std::vector<int64_t> sizes = input.sizes().slice(0, input.dim() - 2).vec();
    sizes.push_back(0);
    return {at::zeros_like(input), at::zeros(sizes, input.options())};
  }
  Tensor columns = at::cat(gradients.vectors, -1).tril(-1);
  if (rest > 0) {
    columns = at::cat({columns, at::zeros_like(input.narrow(-1, k, rest))}, -1);
  }
  return {columns, at::cat(gradients.scales, -1).squeeze(-2)};
}

} // namespace

std::tuple<Tensor, Tensor> householder_product_backward(
    const Tensor& grad, const Tensor& input, const Tensor& tau, std::array<bool, 2> mask) {
  if (!grad.defined() || input.numel() == 0 || tau.numel() == 0) {
    return {};
  }
  const auto [vectors, scales] = reflectors_of(input, tau);
  const Tensor first_columns = at::eye(input.size(-2), input.size(-1), input.options()).expand(input.sizes());
  auto [grad_input, grad_tau] = joined_gradients(reflectors_backward(grad, vectors, scales, first_columns), input);
  return {mask[0] ? grad_input : Tensor(), mask[1] ? grad_tau : Tensor()};
}

std::tuple<Tensor, Tensor, Tensor> ormqr_backward(
    const Tensor& grad,
    const Tensor& input,
    const Tensor& tau,
    const Tensor& other,
    bool left,
    bool transpose,
    std::array<bool, 3> mask) {
  if (!grad.defined()) {
    return {};
  }
  Tensor grad_other;
  if (mask[2]) {
    grad_other = at::ormqr(input, tau, grad, left, !transpose);
  }
  if (!mask[0] && !mask[1]) {
    return {Tensor(), Tensor(), grad_other};
  }
  // C Q = (Q^H C^H)^H, and Q^H is the product of H_k^H ... H_1^H, each with the conjugate scale.
  const bool adjoint = left == transpose;
  auto [vectors, scales] = reflectors_of(input, tau);
  if (adjoint) {
    make_adjoint(vectors, scales);
  }
  ReflectorGradients gradients =
      reflectors_backward(left ? grad : grad.mH(), vectors, scales, left ? other : other.mH());
  if (adjoint) {
    make_adjoint(gradients.vectors, gradients.scales);
  }
  auto [grad_input, grad_tau] = joined_gradients(gradients, input);
  return {mask[0] ? grad_input : Tensor(), mask[1] ? grad_tau : Tensor(), grad_other};
}

Tensor householder_product_tangent(const Tensor& input, const Tensor& input_t, const Tensor& tau, const Tensor& tau_t) {
  const auto [vectors, scales] = reflectors_of(input, tau);
  const auto [vectors_t, scales_t] = reflectors_tangents_of(input, input_t, tau, tau_t);
  const Tensor first_columns = at::eye(input.size(-2), input.size(-1), input.options()).expand(input.sizes());
  return reflectors_tangent(vectors, vectors_t, scales, scales_t, first_columns, at::zeros_like(first_columns));
}

Tensor ormqr_tangent(
    const Tensor& input,
    const Tensor& input_t,
    const Tensor& tau,
    const Tensor& tau_t,
    const Tensor& other,
    const Tensor& other_t,
    bool left,
    bool transpose) {
  if (!input_t.defined() && !tau_t.defined()) {
    return at::ormqr(input, tau, other_t, left, transpose);
  }
  auto [vectors, scales] = reflectors_of(input, tau);
  auto [vectors_t, scales_t] = reflectors_tangents_of(input, input_t, tau, tau_t);
  if (left == transpose) { // as in ormqr_backward
    make_adjoint(vectors, scales);
    make_adjoint(vectors_t, scales_t);
  }
  const Tensor C_t = other_t.defined() ? other_t : at::zeros_like(other);
  const Tensor tangent =
      reflectors_tangent(vectors, vectors_t, scales, scales_t, left ? other : other.mH(), left ? C_t : C_t.mH());
  return left ? tangent : tangent.mH();
}

// ---- singular values and eigenvalues
// -----------------------------------------------------------------------------------------

Tensor svd_backward(
    const Tensor& grad_U_full,
    const Tensor& grad_S,
    const Tensor& grad_Vh_full,
    const Tensor& U_full,
    const Tensor& S,
    const Tensor& Vh_full,
    bool full_matrices) {
  if (!grad_U_full.defined() && !grad_S.defined() && !grad_Vh_full.defined()) {
    return {};
  }
  const int64_t k = S.size(-1), m = U_full.size(-2), n = Vh_full.size(-1);
  TORCH_CHECK(
      U_full.dim() >= 2,
      "svd_backward: the derivative needs the singular vectors, which compute_uv=false has not computed");
  const auto columns = [&](const Tensor& t) { return full_matrices && t.defined() ? t.narrow(-1, 0, k) : t; };
  const auto rows = [&](const Tensor& t) { return full_matrices && t.defined() ? t.narrow(-2, 0, k) : t; };
  const Tensor U = columns(U_full), grad_U = columns(grad_U_full), Vh = rows(Vh_full), grad_Vh = rows(grad_Vh_full);
  if (!grad_U.defined() && !grad_Vh.defined()) {
    return m >= n ? U.matmul(rows_times(Vh, grad_S.to(Vh.scalar_type())))
                  : columns_times(U, grad_S.to(U.scalar_type())).matmul(Vh);
  }
  const auto skew = [](const Tensor& t) { return t - t.mH(); };
  const Tensor uu = grad_U.defined() ? skew(U.mH().matmul(grad_U)) : Tensor();
  const Tensor vv = grad_Vh.defined() ? skew(Vh.matmul(grad_Vh.mH())) : Tensor();
  if (U.is_complex()) {
    const Tensor phase = sum_of(
        uu.defined() ? at::imag(diagonal_of(uu)) : Tensor(), vv.defined() ? at::imag(diagonal_of(vv)) : Tensor());
    check_phase("svd_backward", phase, at::zeros_like(phase));
  }
  const Tensor E = differences(S * S);
  Tensor inner =
      sum_of(uu.defined() ? columns_times(uu / E, S) : Tensor(), vv.defined() ? rows_times(vv / E, S) : Tensor());
  Tensor diagonal = grad_S.defined() ? grad_S : at::zeros_like(S);
  if (U.is_complex() && uu.defined() && vv.defined()) {
    diagonal = diagonal + diagonal_of(uu) / (2 * S);
  }
  inner = with_diagonal(inner, diagonal);
  if (m > k && grad_U.defined()) {
    const Tensor scaled = columns_times(grad_U, S.reciprocal());
    return (U.matmul(inner) + scaled - U.matmul(U.mH().matmul(scaled))).matmul(Vh);
  }
  if (n > k && grad_Vh.defined()) {
    const Tensor scaled = rows_times(grad_Vh, S.reciprocal());
    return U.matmul(inner.matmul(Vh) + scaled - scaled.matmul(Vh.mH()).matmul(Vh));
  }
  return m >= n ? U.matmul(inner.matmul(Vh)) : U.matmul(inner).matmul(Vh);
}

Tensor linalg_eigh_backward(const Tensor& grad_L, const Tensor& grad_V, const Tensor& L, const Tensor& V) {
  if (!grad_L.defined() && !grad_V.defined()) {
    return {};
  }
  TORCH_CHECK(
      V.dim() >= 2,
      "linalg_eigh_backward: the derivative needs the eigenvectors, which compute_v=false has not computed");
  if (!grad_V.defined()) {
    return columns_times(V, grad_L.to(V.scalar_type())).matmul(V.mH());
  }
  const Tensor product = V.mH().matmul(grad_V);
  if (V.is_complex()) {
    check_phase("linalg_eigh_backward", at::imag(diagonal_of(product)), at::real(diagonal_of(product)));
  }
  const Tensor skew = (product - product.mH()) * 0.5;
  const Tensor inner = with_diagonal(skew / differences(L), grad_L.defined() ? grad_L : at::zeros_like(L));
  return V.matmul(inner.matmul(V.mH()));
}

Tensor linalg_eig_backward(
    const Tensor& grad_L, const Tensor& grad_V, const Tensor& L, const Tensor& V, at::ScalarType self_dtype) {
  if (!grad_L.defined() && !grad_V.defined()) {
    return {};
  }
  Tensor result;
  if (!grad_V.defined()) {
    result = at::linalg_solve(V.mH(), rows_times(V.mH(), grad_L));
  } else {
    // Eigenvectors have length one: what grad_V says along them does not count.
    const Tensor product = V.mH().matmul(grad_V);
    const Tensor along = at::real(diagonal_of(product));
    check_phase("linalg_eig_backward", at::imag(diagonal_of(product)), along);
    const Tensor projected = product - V.mH().matmul(columns_times(V, along.to(V.scalar_type())));
    const Tensor inner =
        with_diagonal(projected / differences(L).conj(), grad_L.defined() ? grad_L : at::zeros_like(L));
    result = at::linalg_solve(V.mH(), inner.matmul(V.mH()));
  }
  return handle_r_to_c(self_dtype, result);
}

} // namespace torch::autograd::formulas
