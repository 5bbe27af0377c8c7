// Triangular systems, through cuBLAS.
#include <aten/Functions.h>
#include <aten/native/cuda/matrices.h>
#include <aten/native/cuda/solver.h>

namespace at::native::cuda {

namespace {

/// out = the solution of op(A) X = B or X op(A) = B. A that is row-major is read as its transpose.
void solve(const Tensor& A, solver::Triangle triangle, bool left, const Tensor& B, const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  const ResultMemory x = ResultMemory::by_columns(out);
  x.memory().copy_(B);
  const IntArrayRef batch = batch_sizes_of(out);
  const bool own_batch = batch_sizes_of(A) == batch;
  const Tensor turned = A.transpose(-2, -1);
  if (own_batch && turned.is_contiguous()) {
    solver::trsm(A, triangle, left, x.memory());
  } else if (own_batch && A.is_contiguous()) {
    triangle.upper = !triangle.upper;
    triangle.op = triangle.op == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N;
    solver::trsm(turned, triangle, left, x.memory());
  } else {
    solver::trsm(copy_by_columns(A, batch), triangle, left, x.memory());
  }
  x.store();
}

} // namespace

void linalg_solve_triangular_kernel(
    const TensorBase& self, const TensorBase& B, bool upper, bool left, bool unitriangular, const TensorBase& out) {
  solve(Tensor(self).resolve_conj(), {upper, unitriangular, CUBLAS_OP_N}, left, Tensor(B), out);
}

void triangular_solve_kernel(
    const TensorBase& self,
    const TensorBase& A,
    bool upper,
    bool transpose,
    bool unitriangular,
    const TensorBase& solution,
    const TensorBase& cloned_coefficient) {
  solve(
      Tensor(A), {upper, unitriangular, transpose ? CUBLAS_OP_T : CUBLAS_OP_N}, /*left=*/true, Tensor(self), solution);
  Tensor(cloned_coefficient).copy_(Tensor(A));
}

} // namespace at::native::cuda
