// QR factors, products of Householder reflectors, and least squares by them, through cuSOLVER.
#include <aten/Functions.h>
#include <aten/native/cuda/matrices.h>
#include <aten/native/cuda/solver.h>
#include <aten/shape/functions.h>
#include <aten/shape/qr_mode.h>
#include <aten/shape/solve_rules.h>
#include <c10/util/DimVector.h>

#include <algorithm>
#include <string_view>

namespace at::native::cuda {

namespace {

/// R, and the reflectors that make Q, in `a`; their scales.
Tensor factor(const Tensor& a) {
  c10::DimVector sizes(batch_sizes_of(a).begin(), batch_sizes_of(a).end());
  sizes.push_back(std::min(a.size(-2), a.size(-1)));
  const Tensor tau = at::empty(sizes, a.options());
  if (tau.numel() != 0) {
    solver::geqrf(a, tau);
  }
  return tau;
}

/// q, by columns, whose first columns are reflectors, becomes the first columns of their product.
void form_q(const Tensor& q, const Tensor& tau) {
  if (tau.numel() == 0) {
    set_identity(q);
  } else {
    solver::orgqr(q, tau);
  }
}

/// c, by columns, becomes op(Q) C, or C op(Q) from the right.
void apply_q(bool left, bool adjoint, const Tensor& a, const Tensor& tau, const Tensor& c) {
  if (tau.numel() != 0 && c.numel() != 0) {
    solver::ormqr(left, !adjoint ? CUBLAS_OP_N : c.is_complex() ? CUBLAS_OP_C : CUBLAS_OP_T, a, tau, c);
  }
}

} // namespace

void linalg_qr_kernel(const TensorBase& A, std::string_view mode, const TensorBase& Q, const TensorBase& R) {
  const Tensor a = copy_by_columns(Tensor(A));
  const Tensor tau = factor(a);
  Tensor(R).copy_(at::triu(a.narrow(-2, 0, R.size(-2))));
  if (!at::shape::qr_mode(mode).first) {
    return;
  }
  const ResultMemory q = ResultMemory::by_columns(Q);
  const int64_t known = std::min(a.size(-1), q.memory().size(-1));
  q.memory().narrow(-1, 0, known).copy_(a.narrow(-1, 0, known));
  form_q(q.memory(), tau);
  q.store();
}

void geqrf_kernel(const TensorBase& self, const TensorBase& a, const TensorBase& tau) {
  const ResultMemory factors = ResultMemory::by_columns(a);
  factors.memory().copy_(Tensor(self));
  Tensor(tau).copy_(factor(factors.memory()));
  factors.store();
}

void linalg_householder_product_kernel(const TensorBase& input, const TensorBase& tau, const TensorBase& out) {
  const ResultMemory q = ResultMemory::by_columns(out);
  q.memory().copy_(Tensor(input));
  form_q(q.memory(), Tensor(tau).contiguous());
  q.store();
}

void ormqr_kernel(
    const TensorBase& self,
    const TensorBase& tau,
    const TensorBase& other,
    bool left,
    bool transpose,
    const TensorBase& out) {
  const ResultMemory c = ResultMemory::by_columns(out);
  c.memory().copy_(Tensor(other));
  apply_q(left, transpose, copy_by_columns(Tensor(self)), Tensor(tau).contiguous(), c.memory());
  c.store();
}

// ---- least squares
// ---------------------------------------------------------------------------------------------------------

namespace {

/// x, of max(m, n) rows and B on top, becomes the solution in its first n rows, and below what could not be fitted: A =
/// Q R, so that R X is the top of Q^H B.
void fit(const Tensor& A, const Tensor& x) {
  const Tensor tau = factor(A);
  apply_q(/*left=*/true, /*adjoint=*/true, A, tau, x);
  const int64_t n = A.size(-1);
  const Tensor top = copy_by_columns(x.narrow(-2, 0, n));
  solver::trsm(
      copy_by_columns(A.narrow(-2, 0, n)), {/*upper=*/true, /*unit_diagonal=*/false, CUBLAS_OP_N}, /*left=*/true, top);
  x.narrow(-2, 0, n).copy_(top);
}

/// The shortest of many solutions, for fewer rows than columns: A^H = Q R, so that X = Q (R^-H B).
void shortest(const Tensor& A, const Tensor& x) {
  const Tensor a = copy_by_columns(A.mH());
  const Tensor tau = factor(a);
  const int64_t m = A.size(-2), n = A.size(-1);
  const Tensor top = copy_by_columns(x.narrow(-2, 0, m));
  const cublasOperation_t adjoint = A.is_complex() ? CUBLAS_OP_C : CUBLAS_OP_T;
  solver::trsm(
      copy_by_columns(a.narrow(-2, 0, m)), {/*upper=*/true, /*unit_diagonal=*/false, adjoint}, /*left=*/true, top);
  x.narrow(-2, 0, m).copy_(top);
  x.narrow(-2, m, n - m).zero_();
  apply_q(/*left=*/true, /*adjoint=*/false, a, tau, x);
}

} // namespace

void linalg_lstsq_kernel(
    const TensorBase& self,
    const TensorBase& b,
    std::optional<double>,
    std::optional<std::string_view>,
    const TensorBase& solution,
    const TensorBase& residuals,
    const TensorBase&,
    const TensorBase&) {
  const bool vector = at::shape::lstsq_takes_vector(self, b);
  const Tensor B = vector ? Tensor(b).unsqueeze(-1) : Tensor(b);
  const Tensor result = vector ? Tensor(solution).unsqueeze(-1) : Tensor(solution);
  const IntArrayRef batch = batch_sizes_of(result);
  const int64_t m = self.size(-2), n = self.size(-1);
  const Tensor x = empty_by_columns(batch, std::max(m, n), B.size(-1), B.options());
  if (m == 0 || n == 0 || x.numel() == 0) {
    x.zero_();
  } else {
    x.narrow(-2, 0, m).copy_(B);
    const Tensor matrices = copy_by_columns(Tensor(self), batch);
    m >= n ? fit(matrices, x) : shortest(matrices, x);
  }
  Tensor(result).copy_(x.narrow(-2, 0, n));
  const bool want_residuals = residuals.dim() + 1 == result.dim() && residuals.numel() > 0;
  if (want_residuals) {
    const Tensor rest = at::abs(x.narrow(-2, n, m - n));
    Tensor(residuals).copy_(at::sum(at::mul(rest, rest), -2));
  }
}

} // namespace at::native::cuda
