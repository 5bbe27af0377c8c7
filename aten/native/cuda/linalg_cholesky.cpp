// Cholesky factors, and inverses and solutions by them, through cuSOLVER.
#include <aten/Functions.h>
#include <aten/native/cuda/matrices.h>
#include <aten/native/cuda/solver.h>

namespace at::native::cuda {

namespace {

/// Factors self into L (or its conjugate transpose, when `upper`), which is column-major.
void factor(const TensorBase& self, bool upper, const Tensor& L, const Tensor& info) {
  Tensor(info).zero_();
  if (L.numel() == 0) {
    return;
  }
  Tensor(L).copy_(Tensor(self));
  solver::potrf(L, upper, info);
  upper ? L.triu_() : L.tril_();
}

/// b, by columns, becomes the solution of A X = B, where A's factor is given.
void solve(const Tensor& factors, bool upper, const Tensor& b) {
  if (b.numel() != 0) {
    solver::potrs(copy_by_columns(factors, batch_sizes_of(b)), upper, b);
  }
}

} // namespace

void linalg_cholesky_ex_kernel(
    const TensorBase& self, bool upper, bool check_errors, const TensorBase& L, const TensorBase& info) {
  const ResultMemory factors = ResultMemory::by_columns(L), infos = ResultMemory::by_rows(info);
  factor(self, upper, factors.memory(), infos.memory());
  factors.store();
  infos.store();
  if (check_errors) {
    at::_linalg_check_errors(infos.memory(), "linalg.cholesky_ex", self.dim() == 2);
  }
}

void cholesky_kernel(const TensorBase& self, bool upper, const TensorBase& out) {
  const Tensor matrices(self);
  const Tensor info = at::empty(batch_sizes_of(self), matrices.options().dtype(kInt));
  // Where there is no factorization, the output keeps what it holds.
  const Tensor L = empty_by_columns(batch_sizes_of(self), self.size(-2), self.size(-1), matrices.options());
  factor(self, upper, L, info);
  at::_linalg_check_errors(info, "cholesky", self.dim() == 2);
  Tensor(out).copy_(L);
}

void cholesky_inverse_kernel(const TensorBase& self, bool upper, const TensorBase& out) {
  const ResultMemory inverse = ResultMemory::by_columns(out);
  set_identity(inverse.memory());
  solve(Tensor(self), upper, inverse.memory());
  inverse.store();
}

void cholesky_solve_kernel(const TensorBase& self, const TensorBase& A, bool upper, const TensorBase& out) {
  const ResultMemory solution = ResultMemory::by_columns(out);
  solution.memory().copy_(Tensor(self));
  solve(Tensor(A), upper, solution.memory());
  solution.store();
}

} // namespace at::native::cuda
