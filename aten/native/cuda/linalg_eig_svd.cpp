// Singular values, and eigenvalues of Hermitian and of any square matrices, with their vectors, through cuSOLVER.
#include <aten/Functions.h>
#include <aten/native/cuda/matrices.h>
#include <aten/native/cuda/solver.h>
#include <c10/util/DimVector.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace at::native::cuda {

namespace {

/// The info numbers of a batch, of which nobody but the error message hears.
Tensor no_failures(const Tensor& t) {
  return at::zeros(batch_sizes_of(t), t.options().dtype(kInt));
}

/// These algorithms iterate until numbers are small, which some never are.
bool all_finite(const Tensor& t) {
  return at::all(at::isfinite(t)).item<bool>();
}

// ---- singular values
// -------------------------------------------------------------------------------------------------------

struct Vectors {
  Tensor U, Vh; // undefined where none are wanted
};

/// By QR iterations, for any shape: of a matrix with more columns than rows they take the adjoint.
Vectors by_qr(const Tensor& A, bool full, bool vectors, const Tensor& S, const Tensor& info) {
  const int64_t m = A.size(-2), n = A.size(-1);
  if (m < n) {
    const Vectors swapped = by_qr(A.mH(), full, vectors, S, info);
    return vectors ? Vectors{swapped.Vh.mH(), swapped.U.mH()} : Vectors{};
  }
  const IntArrayRef batch = batch_sizes_of(A);
  Vectors v;
  if (vectors) {
    v = {empty_by_columns(batch, m, full ? m : n, A.options()), empty_by_columns(batch, n, n, A.options())};
  }
  solver::gesvd(copy_by_columns(A), v.U, S, v.Vh, info);
  return v;
}

/// By Jacobi's method. Where it does not converge, all of the batch goes by QR.
Vectors by_jacobi(const Tensor& A, bool full, bool vectors, const Tensor& S, const Tensor& info) {
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  const IntArrayRef batch = batch_sizes_of(A);
  Tensor U, V;
  if (vectors) {
    U = empty_by_columns(batch, m, full ? m : k, A.options());
    V = empty_by_columns(batch, n, full ? n : k, A.options());
  }
  solver::gesvdj(copy_by_columns(A), U, S, V, info);
  if (at::any(info).item<bool>()) {
    Tensor(info).zero_();
    return by_qr(A, full, vectors, S, info);
  }
  return vectors ? Vectors{U, V.mH()} : Vectors{};
}

} // namespace

void linalg_svd_kernel(
    const TensorBase& A,
    bool full_matrices,
    bool compute_uv,
    std::optional<std::string_view> driver,
    const TensorBase& U,
    const TensorBase& S,
    const TensorBase& Vh) {
  TORCH_CHECK(
      !driver.has_value() || *driver == "gesvd" || *driver == "gesvdj" || *driver == "gesvda",
      "torch.linalg.svd: unknown svd driver ", driver.value_or(""), "; known are gesvd, gesvdj and gesvda");
  const Tensor a(A);
  if (S.numel() == 0) {
    if (compute_uv) {
      set_identity(Tensor(U));
      set_identity(Tensor(Vh));
    }
    return;
  }
  TORCH_CHECK_LINALG(
      all_finite(a),
      "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.");
  const Tensor info = no_failures(a);
  const ResultMemory values = ResultMemory::by_rows(S);
  const bool iterate = driver.has_value() && *driver == "gesvd";
  const Vectors v = (iterate ? by_qr : by_jacobi)(a, full_matrices, compute_uv, values.memory(), info);
  at::_linalg_check_errors(info, "linalg.svd", A.dim() == 2);
  values.store();
  if (compute_uv) {
    Tensor(U).copy_(v.U);
    Tensor(Vh).copy_(v.Vh);
  }
}

// ---- Hermitian matrices
// ----------------------------------------------------------------------------------------------------

void linalg_eigh_kernel(
    const TensorBase& A,
    std::string_view UPLO,
    bool compute_v,
    const TensorBase& eigenvalues,
    const TensorBase& eigenvectors) {
  if (A.numel() == 0) {
    return;
  }
  const bool upper = UPLO == "U" || UPLO == "u";
  const Tensor a(A);
  const ResultMemory vectors = ResultMemory::by_columns(compute_v ? eigenvectors : TensorBase(at::empty_like(a)));
  // What stands in the other triangle is not read, so it must not matter either.
  vectors.memory().copy_(upper ? at::triu(a) : at::tril(a));
  TORCH_CHECK_LINALG(
      all_finite(vectors.memory()),
      "linalg.eigh: The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
      "repeated "
      "eigenvalues: it contains values that are not finite.");
  const Tensor info = no_failures(a);
  const ResultMemory values = ResultMemory::by_rows(eigenvalues);
  solver::syevd(vectors.memory(), upper, compute_v, values.memory(), info);
  at::_linalg_check_errors(info, "linalg.eigh", A.dim() == 2);
  values.store();
  vectors.store();
}

// ---- any square matrices
// ---------------------------------------------------------------------------------------------------

namespace {

/// The vectors of a real matrix: a complex pair has the real and the imaginary part of its first vector side by side.
Tensor joined_pairs(const Tensor& values, const Tensor& parts) {
  const Tensor sign = at::imag(values).unsqueeze(-2);
  const Tensor first = at::gt(sign, 0), second = at::lt(sign, 0);
  const Tensor none = at::zeros({}, parts.options());
  const Tensor real = at::where(second, at::roll(parts, 1, -1), parts);
  const Tensor imag = at::where(first, at::roll(parts, -1, -1), at::where(second, at::neg(parts), none));
  return at::complex(real, imag);
}

void eigenvalues_of(const char* op, const TensorBase& self, const TensorBase& values, const TensorBase* vectors) {
  if (self.numel() == 0) {
    return;
  }
  const Tensor matrices(self);
  TORCH_CHECK(all_finite(matrices), "torch.linalg.eig: input tensor should not contain infs or NaNs. (", op, ")");
  const Tensor info = no_failures(matrices);
  const ResultMemory w = ResultMemory::by_rows(values);
  const int64_t n = self.size(-1);
  const Tensor parts = vectors == nullptr ? Tensor() : empty_by_columns(batch_sizes_of(self), n, n, matrices.options());
  solver::geev(copy_by_columns(matrices), w.memory(), parts, info);
  at::_linalg_check_errors(info, op, self.dim() == 2);
  w.store();
  if (vectors != nullptr) {
    Tensor(*vectors).copy_(matrices.is_complex() ? parts : joined_pairs(w.memory(), parts));
  }
}

} // namespace

void linalg_eig_kernel(const TensorBase& self, const TensorBase& eigenvalues, const TensorBase& eigenvectors) {
  eigenvalues_of("linalg.eig", self, eigenvalues, &eigenvectors);
}

void linalg_eigvals_kernel(const TensorBase& self, const TensorBase& out) {
  eigenvalues_of("linalg.eigvals", self, out, nullptr);
}

} // namespace at::native::cuda
