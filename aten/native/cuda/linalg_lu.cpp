// LU factors with row pivots, and what is computed by them: determinants, inverses, solutions. Through cuSOLVER.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/native/cuda/matrices.h>
#include <aten/native/cuda/pivots.h>
#include <aten/native/cuda/solver.h>
#include <aten/shape/solve_rules.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/DimVector.h>

#include <algorithm>

namespace at::native::cuda {

namespace {

/// Factors in `lu`, by columns, with pivots as int64, from 1.
struct LuFactors {
  Tensor lu, pivots;
};

LuFactors factor(const Tensor& A, bool pivot, const Tensor& lu, const Tensor& info) {
  c10::DimVector sizes(batch_sizes_of(A).begin(), batch_sizes_of(A).end());
  const int64_t k = std::min(A.size(-2), A.size(-1));
  sizes.push_back(k);
  Tensor(lu).copy_(A);
  Tensor(info).zero_();
  Tensor pivots = at::empty(sizes, A.options().dtype(kLong));
  if (!pivot) {
    pivots.copy_(at::arange(1, k + 1, pivots.options()));
  }
  if (lu.numel() != 0) {
    solver::getrf(lu, pivot ? pivots : Tensor(), info);
  }
  return {lu, pivots};
}

/// A real matrix that is row-major is its own transpose by columns; the derivatives know that it is factored as that.
bool factor_transposed(const TensorBase& A) {
  return !A.is_complex() && A.is_contiguous();
}
Tensor as_factored(const TensorBase& A) {
  return factor_transposed(A) ? Tensor(A).transpose(-2, -1) : Tensor(A);
}

Pivots pivots_of(const char* op, const Tensor& in, int64_t rows, const Tensor& out) {
  const int64_t each = in.size(-1);
  return {
      each == 0 ? 0 : in.numel() / each,
      each,
      in.const_data_ptr<int>(),
      out.mutable_data_ptr<int64_t>(),
      {index_error_slot(), op, "pivots", rows},
      c10::cuda::getCurrentCUDAStream().stream()};
}

/// out = op(A)^-1 b or b op(A)^-1, where the factors are A's, or its transpose's when `transposed`. Batches are those
/// of out.
void solve(const LuFactors& factors, bool left, bool adjoint, bool transposed, const Tensor& b, const Tensor& out) {
  if (out.numel() == 0) {
    return;
  }
  // X op(A) = B is op(A)^T X^T = B^T; for an adjoint that is conj(A) X^T = B^T, or A conj(X^T) = conj(B^T).
  const bool conjugated = !left && adjoint && out.is_complex();
  const ResultMemory x = ResultMemory::by_columns(left ? out : out.transpose(-2, -1));
  x.memory().copy_(left ? b : conjugated ? b.transpose(-2, -1).conj() : b.transpose(-2, -1));
  const bool flip = (left ? adjoint : !adjoint) != transposed;
  const cublasOperation_t op = !flip ? CUBLAS_OP_N : left && adjoint && out.is_complex() ? CUBLAS_OP_C : CUBLAS_OP_T;
  solver::getrs(factors.lu, factors.pivots, op, x.memory());
  if (conjugated) {
    x.memory().conj_physical_();
  }
  x.store();
}

/// The factors with the batch of a result.
LuFactors expanded(const LuFactors& factors, IntArrayRef batch) {
  if (batch_sizes_of(factors.lu) == batch) {
    return factors;
  }
  c10::DimVector sizes(batch.begin(), batch.end());
  sizes.push_back(factors.pivots.size(-1));
  return {copy_by_columns(factors.lu, batch), factors.pivots.expand(sizes).contiguous()};
}

/// +1 or -1 for each matrix: whether the number of exchanges is even.
Tensor parity(const Tensor& pivots, const TensorOptions& options) {
  const Tensor own = at::arange(1, pivots.size(-1) + 1, pivots.options());
  const Tensor odd = at::remainder(at::sum(at::ne(pivots, own), -1), 2);
  return at::add(at::mul(odd, -2), 1).to(options.dtype());
}

Tensor diagonal_of(const Tensor& lu) {
  return lu.diagonal(0, -2, -1);
}

/// Factors of A, or of its transpose where that is column-major, in the results.
LuFactors factor_into(const TensorBase& A, const ResultMemory& lu, const TensorBase& pivots, const Tensor& info) {
  const LuFactors factors = factor(as_factored(A), /*pivot=*/true, lu.memory(), info);
  lu.store();
  Tensor(pivots).copy_(factors.pivots);
  return factors;
}

Tensor infos_like(const TensorBase& A) {
  return at::empty(batch_sizes_of(A), Tensor(A).options().dtype(kInt));
}

void unpack(const Tensor& lu, const Tensor& L, const Tensor& U) {
  const int64_t k = std::min(lu.size(-2), lu.size(-1));
  Tensor(L).copy_(at::tril(lu.narrow(-1, 0, k), -1));
  diagonal_of(L).fill_(1);
  Tensor(U).copy_(at::triu(lu.narrow(-2, 0, k)));
}

void unpack_pivots(const char* op, const Tensor& pivots, const Tensor& P) {
  Tensor(P).zero_();
  if (P.numel() == 0) {
    return;
  }
  const Tensor given = pivots.contiguous();
  c10::DimVector sizes(P.sizes().begin(), P.sizes().end() - 1);
  const Tensor order = at::empty(sizes, given.options().dtype(kLong));
  Pivots p = pivots_of(op, given, P.size(-1), order);
  p.count = order.numel() / P.size(-1);
  launch_pivot_order(p);
  Tensor(P).scatter_(-2, order.unsqueeze(-2), 1);
}

} // namespace

void linalg_lu_factor_ex_kernel(
    const TensorBase& A,
    bool pivot,
    bool check_errors,
    const TensorBase& LU,
    const TensorBase& pivots,
    const TensorBase& info) {
  const ResultMemory lu = ResultMemory::by_columns(LU), infos = ResultMemory::by_rows(info);
  const LuFactors factors = factor(Tensor(A), pivot, lu.memory(), infos.memory());
  lu.store();
  infos.store();
  Tensor(pivots).copy_(factors.pivots);
  if (check_errors) {
    at::_linalg_check_errors(infos.memory(), "torch.linalg.lu_factor_ex", A.dim() == 2);
  }
}

void lu_unpack_kernel(
    const TensorBase& LU_data,
    const TensorBase& LU_pivots,
    bool unpack_data,
    bool with_pivots,
    const TensorBase& P,
    const TensorBase& L,
    const TensorBase& U) {
  if (with_pivots) {
    unpack_pivots("lu_unpack", Tensor(LU_pivots), Tensor(P));
  }
  if (unpack_data) {
    unpack(Tensor(LU_data), Tensor(L), Tensor(U));
  }
}

void linalg_lu_kernel(const TensorBase& A, bool pivot, const TensorBase& P, const TensorBase& L, const TensorBase& U) {
  const Tensor matrices(A);
  const Tensor lu = empty_by_columns(batch_sizes_of(A), A.size(-2), A.size(-1), matrices.options());
  const LuFactors factors = factor(matrices, pivot, lu, infos_like(A));
  unpack(lu, Tensor(L), Tensor(U));
  if (pivot) {
    unpack_pivots("linalg_lu", factors.pivots.to(kInt), Tensor(P));
  }
}

// ---- determinants
// ---------------------------------------------------------------------------------------------------------

void linalg_det_kernel(const TensorBase& A, const TensorBase& result, const TensorBase& LU, const TensorBase& pivots) {
  const ResultMemory lu = ResultMemory::by_columns(LU);
  const LuFactors factors = factor_into(A, lu, pivots, infos_like(A));
  const Tensor product = at::prod(diagonal_of(lu.memory()), -1);
  Tensor(result).copy_(at::mul(product, parity(factors.pivots, product.options())));
}

void linalg_slogdet_kernel(
    const TensorBase& A,
    const TensorBase& sign,
    const TensorBase& logabsdet,
    const TensorBase& LU,
    const TensorBase& pivots) {
  const ResultMemory lu = ResultMemory::by_columns(LU);
  const LuFactors factors = factor_into(A, lu, pivots, infos_like(A));
  const Tensor diagonal = diagonal_of(lu.memory());
  Tensor(sign).copy_(at::mul(at::prod(at::sgn(diagonal), -1), parity(factors.pivots, diagonal.options())));
  Tensor(logabsdet).copy_(at::sum(at::log(at::abs(diagonal)), -1));
}

// ---- inverses and solutions
// -----------------------------------------------------------------------------------------------

void linalg_inv_ex_kernel(const TensorBase& A, bool check_errors, const TensorBase& inverse, const TensorBase& info) {
  const ResultMemory x = ResultMemory::by_columns(inverse), infos = ResultMemory::by_rows(info);
  const Tensor matrices(A);
  const Tensor lu = empty_by_columns(batch_sizes_of(A), A.size(-2), A.size(-1), matrices.options());
  const LuFactors factors = factor(matrices, /*pivot=*/true, lu, infos.memory());
  set_identity(x.memory());
  if (lu.numel() != 0) {
    solver::getrs(factors.lu, factors.pivots, CUBLAS_OP_N, x.memory());
  }
  x.store();
  infos.store();
  if (check_errors) {
    at::_linalg_check_errors(infos.memory(), "linalg.inv_ex", A.dim() == 2);
  }
}

void linalg_lu_solve_kernel(
    const TensorBase& LU,
    const TensorBase& pivots,
    const TensorBase& B,
    bool left,
    bool adjoint,
    const TensorBase& out) {
  const Tensor given = Tensor(pivots).contiguous();
  const Tensor wide = at::empty(given.sizes(), given.options().dtype(kLong));
  launch_widen_lu_pivots(pivots_of("linalg_lu_solve", given, LU.size(-1), wide));
  const LuFactors factors{copy_by_columns(Tensor(LU)), wide};
  solve(expanded(factors, batch_sizes_of(out)), left, adjoint, /*transposed=*/false, Tensor(B), Tensor(out));
  // From the right, PyTorch leaves the conjugation of a result by rows to its bit, on the CPU too.
  if (!left && out.is_complex() && out.numel() != 0 && out.is_contiguous()) {
    Tensor(out).conj_physical_();
    out.unsafeGetTensorImpl()->_set_conj(true);
  }
}

void linalg_solve_ex_kernel(
    const TensorBase& A,
    const TensorBase& B,
    bool left,
    bool check_errors,
    const TensorBase& result,
    const TensorBase& LU,
    const TensorBase& pivots,
    const TensorBase& info) {
  const ResultMemory lu = ResultMemory::by_columns(LU), infos = ResultMemory::by_rows(info);
  const LuFactors factors = factor_into(A, lu, pivots, infos.memory());
  infos.store();
  // A vector on the right side stands for a matrix of one column.
  const bool vector = at::shape::solve_takes_vector(A, B);
  const Tensor b = vector ? Tensor(B).unsqueeze(-1) : Tensor(B);
  const Tensor x = vector ? Tensor(result).unsqueeze(-1) : Tensor(result);
  solve(expanded(factors, batch_sizes_of(x)), left, /*adjoint=*/false, factor_transposed(A), b, x);
  if (check_errors) {
    at::_linalg_check_errors(infos.memory(), "torch.linalg.solve_ex", A.dim() == 2);
  }
}

} // namespace at::native::cuda
