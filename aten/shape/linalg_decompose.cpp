// Shapes of matrix factorizations and of what is read off them. Every function throws on bad arguments.
#include <aten/shape/qr_mode.h>

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/shape/matrix_checks.h>
#include <aten/shape/operand_checks.h>

#include <c10/core/GradMode.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace at::shape {
namespace {

TensorSpec infos(const TensorBase& t) {
  return TensorSpec::like(t, batch_sizes(t), kInt);
}

/// One number (pivot, singular value, reflector) for each row or column of each matrix, whichever are fewer.
TensorSpec per_rank(const TensorBase& t, c10::ScalarType dtype) {
  return TensorSpec::like(t, joined(batch_sizes(t), {std::min(t.size(-2), t.size(-1))}), dtype);
}

c10::ScalarType real_dtype(const TensorBase& t) {
  return c10::toRealValueType(t.scalar_type());
}

void check_two_dims(const char* op, const TensorBase& t) {
  TORCH_CHECK(t.dim() >= 2, op, ": Expected tensor with 2 or more dimensions. Got size: ", t.sizes(), " instead");
}

void check_pivoting(const char* op, const TensorBase& A, bool pivot) {
  TORCH_CHECK(
      pivot || !A.device().is_cpu(), "linalg.lu_factor: LU without pivoting is not implemented on the CPU (in ", op,
      ")");
}

} // namespace

// ---- Cholesky
// --------------------------------------------------------------------------------------------------------

std::array<TensorSpec, 2> linalg_cholesky_ex(const char*, const TensorBase& self, bool, bool) {
  check_square("linalg.cholesky", self);
  check_floating_or_complex("linalg.cholesky", self);
  check_lapack_dtype("cholesky_cpu", self);
  return {by_columns(self, self.sizes()), infos(self)};
}

/// The older cholesky.
TensorSpec cholesky(const char*, const TensorBase& self, bool) {
  check_square("cholesky", self);
  check_lapack_dtype("cholesky_cpu", self);
  return self.numel() == 0 ? TensorSpec::like(self, self.sizes()) : by_columns(self, self.sizes());
}

TensorSpec cholesky_inverse(const char*, const TensorBase& self, bool) {
  check_square("cholesky_inverse", self);
  check_lapack_dtype("cholesky_inverse_out_cpu", self);
  return by_columns(self, self.sizes());
}

// ---- LU
// ----------------------------------------------------------------------------------------------------------------

std::array<TensorSpec, 3> linalg_lu_factor_ex(const char*, const TensorBase& A, bool pivot, bool) {
  check_two_dims("torch.lu_factor", A);
  check_lapack_dtype("lu_cpu", A);
  check_pivoting("linalg_lu_factor_ex", A, pivot);
  return {by_columns(A, A.sizes()), per_rank(A, kInt), infos(A)};
}

std::array<TensorSpec, 3> linalg_lu(const char*, const TensorBase& A, bool pivot) {
  check_two_dims("linalg.lu", A);
  check_lapack_dtype("lu_cpu", A);
  check_pivoting("linalg_lu", A, pivot);
  const auto batch = batch_sizes(A);
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  return {
      pivot ? TensorSpec::like(A, joined(batch, {m, m})) : nothing(A, A.scalar_type()),
      TensorSpec::like(A, joined(batch, {m, k})), TensorSpec::like(A, joined(batch, {k, n}))};
}

std::array<TensorSpec, 3> lu_unpack(
    const char*, const TensorBase& LU_data, const TensorBase& LU_pivots, bool unpack_data, bool unpack_pivots) {
  check_two_dims("torch.lu_unpack", LU_data);
  TORCH_CHECK(
      !unpack_pivots || LU_pivots.scalar_type() == kInt,
      "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\nNote: this function is "
      "intended "
      "to be used with the output produced by torch.linalg.lu_factor; got dtype ",
      LU_pivots.scalar_type());
  const auto batch = batch_sizes(LU_data);
  const int64_t m = LU_data.size(-2), n = LU_data.size(-1), k = std::min(m, n);
  const auto pivot_sizes = joined(batch, {k});
  TORCH_CHECK_VALUE(
      !unpack_pivots || LU_pivots.sizes() == IntArrayRef(pivot_sizes), "Expected LU_pivots to have shape ",
      IntArrayRef(pivot_sizes), " but got ", LU_pivots.sizes(), " instead (in lu_unpack)");
  check_same_device("lu_unpack", {&LU_data, &LU_pivots});
  const TensorSpec none = nothing(LU_data, LU_data.scalar_type());
  return {
      unpack_pivots ? TensorSpec::like(LU_data, joined(batch, {m, m})) : none,
      unpack_data ? TensorSpec::like(LU_data, joined(batch, {m, k})) : none,
      unpack_data ? TensorSpec::like(LU_data, joined(batch, {k, n})) : none};
}

std::array<TensorSpec, 3> linalg_det(const char*, const TensorBase& A) {
  check_square("linalg.det", A);
  check_floating_or_complex("linalg.det", A);
  check_lapack_dtype("lu_cpu", A);
  return {TensorSpec::like(A, batch_sizes(A)), by_columns(A, A.sizes()), per_rank(A, kInt)};
}

std::array<TensorSpec, 4> linalg_slogdet(const char*, const TensorBase& A) {
  check_square("linalg.slogdet", A);
  check_floating_or_complex("linalg.slogdet", A, /*low_precision=*/false);
  return {
      TensorSpec::like(A, batch_sizes(A)), TensorSpec::like(A, batch_sizes(A), real_dtype(A)), by_columns(A, A.sizes()),
      per_rank(A, kInt)};
}

std::array<TensorSpec, 2> linalg_inv_ex(const char*, const TensorBase& A, bool) {
  check_square("linalg.inv", A);
  check_floating_or_complex("linalg.inv", A, /*low_precision=*/false);
  return {by_columns(A, A.sizes()), infos(A)};
}

// ---- QR
// ----------------------------------------------------------------------------------------------------------------

std::pair<bool, bool> qr_mode(std::string_view mode) {
  TORCH_CHECK(
      mode == "reduced" || mode == "complete" || mode == "r", "qr received unrecognized mode '", mode,
      "' but expected one of 'reduced' (default), 'r', or 'complete'");
  return {mode != "r", mode != "complete"};
}

std::array<TensorSpec, 2> linalg_qr(const char*, const TensorBase& A, std::string_view mode) {
  check_matrix("linalg.qr", A);
  check_floating_or_complex("linalg.qr", A);
  const auto [want_q, reduced] = qr_mode(mode);
  check_lapack_dtype("geqrf_cpu", A);
  const auto batch = batch_sizes(A);
  const int64_t m = A.size(-2), n = A.size(-1), cols = reduced ? std::min(m, n) : m;
  return {
      want_q ? by_columns(A, joined(batch, {m, cols})) : nothing(A, A.scalar_type()),
      by_columns(A, joined(batch, {cols, n}))};
}

std::array<TensorSpec, 2> geqrf(const char*, const TensorBase& self) {
  TORCH_CHECK(self.dim() >= 2, "torch.geqrf: input must have at least 2 dimensions. Got ", self.dim());
  check_lapack_dtype("geqrf_cpu", self);
  return {by_columns(self, self.sizes()), per_rank(self, self.scalar_type())};
}

TensorSpec linalg_householder_product(const char* op, const TensorBase& input, const TensorBase& tau) {
  constexpr const char* name = "torch.linalg.householder_product";
  TORCH_CHECK(input.dim() >= 2, name, ": input must have at least 2 dimensions. Got ", input.dim());
  TORCH_CHECK(
      input.size(-2) >= input.size(-1), name,
      ": input.shape[-2] must be greater than or equal to input.shape[-1]; got ", input.sizes());
  TORCH_CHECK(
      input.size(-1) >= tau.size(-1), name, ": input.shape[-1] must be greater than or equal to tau.shape[-1]; got ",
      input.sizes(), " and ", tau.sizes());
  TORCH_CHECK(
      input.dim() - tau.dim() == 1, name,
      ": Expected tau to have one dimension less than input, but got tau.ndim equal to ", tau.dim(),
      " and input.ndim is equal to ", input.dim());
  TORCH_CHECK(
      tau.sizes().slice(0, tau.dim() - 1) == input.sizes().slice(0, input.dim() - 2), name,
      ": Expected batch dimensions of tau to be equal to input.shape[:-2], but got ",
      tau.sizes().slice(0, tau.dim() - 1));
  TORCH_CHECK(
      tau.scalar_type() == input.scalar_type(), name, ": tau dtype ", tau.scalar_type(), " does not match input dtype ",
      input.scalar_type());
  check_same_device(op, {&input, &tau});
  check_lapack_dtype("orgqr_cpu", input);
  return by_columns(input, input.sizes());
}

TensorSpec ormqr(
    const char* op, const TensorBase& input, const TensorBase& tau, const TensorBase& other, bool left, bool) {
  TORCH_CHECK(input.dim() >= 2, "torch.ormqr: input must have at least 2 dimensions. Got ", input.dim());
  TORCH_CHECK(other.dim() >= 2, "torch.ormqr: other must have at least 2 dimensions. Got ", other.dim());
  const int64_t side = left ? -2 : -1;
  TORCH_CHECK(
      other.size(side) >= (tau.dim() == 0 ? 1 : tau.size(-1)), "torch.ormqr: other.shape[", side,
      "] must be greater than or equal to tau.shape[-1]");
  TORCH_CHECK(
      other.size(side) == input.size(-2), "torch.ormqr: other.shape[", side, "] must be equal to input.shape[-2]; got ",
      other.sizes(), " and ", input.sizes());
  TORCH_CHECK(
      tau.dim() == 0 || tau.size(-1) <= input.size(-1),
      "torch.ormqr: input.shape[-1] must be greater than or equal to tau.shape[-1]; got ", input.sizes(), " and ",
      tau.sizes());
  TORCH_CHECK(
      input.dim() - tau.dim() == 1,
      "torch.ormqr: Expected tau to have one dimension less than input, but got tau.ndim equal to ", tau.dim(),
      " and input.ndim is equal to ", input.dim());
  TORCH_CHECK(
      input.dim() == other.dim(),
      "torch.ormqr: Expected other to have the same number of dimensions as input, but got other.ndim equal to ",
      other.dim(), " and input.ndim is equal to ", input.dim());
  const IntArrayRef batch = input.sizes().slice(0, input.dim() - 2);
  TORCH_CHECK(
      tau.sizes().slice(0, tau.dim() - 1) == batch,
      "torch.ormqr: Expected batch dimensions of tau to be equal to input.shape[:-2], but got ",
      tau.sizes().slice(0, tau.dim() - 1));
  TORCH_CHECK(
      other.sizes().slice(0, other.dim() - 2) == batch,
      "torch.ormqr: Expected batch dimensions of other to be equal to input.shape[:-2], but got ",
      other.sizes().slice(0, other.dim() - 2));
  TORCH_CHECK(
      tau.scalar_type() == input.scalar_type(),
      "torch.ormqr: Expected input and tau to have the same dtype, but input has dtype", input.scalar_type(),
      " and tau has dtype ", tau.scalar_type());
  TORCH_CHECK(
      other.scalar_type() == input.scalar_type(),
      "torch.ormqr: Expected input and other to have the same dtype, but input has dtype", input.scalar_type(),
      " and other has dtype ", other.scalar_type());
  check_same_device(op, {&input, &tau, &other});
  check_lapack_dtype("ormqr_cpu", input);
  return by_columns(other, other.sizes());
}

// ---- singular values and eigenvalues
// ---------------------------------------------------------------------------------------

std::array<TensorSpec, 3> linalg_svd(
    const char*, const TensorBase& A, bool full_matrices, bool compute_uv, std::optional<std::string_view> driver) {
  check_matrix("linalg.svd", A);
  check_floating_or_complex("linalg.svd", A);
  TORCH_CHECK(
      !driver.has_value() || A.device().is_cuda(),
      "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.");
  check_lapack_dtype("linalg_svd_cpu", A);
  const auto batch = batch_sizes(A);
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  const TensorSpec none = nothing(A, A.scalar_type());
  return {
      compute_uv ? by_columns(A, joined(batch, {m, full_matrices ? m : k})) : none, per_rank(A, real_dtype(A)),
      compute_uv ? by_columns(A, joined(batch, {full_matrices ? n : k, n})) : none};
}

std::array<TensorSpec, 2> linalg_eigh(const char*, const TensorBase& A, std::string_view UPLO, bool compute_v) {
  check_square("linalg.eigh", A);
  TORCH_CHECK(
      UPLO == "L" || UPLO == "U" || UPLO == "l" || UPLO == "u", "Expected UPLO argument to be 'L' or 'U', but got ",
      UPLO);
  check_lapack_dtype("linalg_eigh_cpu", A);
  return {per_rank(A, real_dtype(A)), compute_v ? by_columns(A, A.sizes()) : nothing(A, A.scalar_type())};
}

std::array<TensorSpec, 2> linalg_eig(const char*, const TensorBase& self) {
  check_square("linalg.eig", self);
  const auto dtype = c10::toComplexType(self.scalar_type());
  check_lapack_dtype("linalg_eig_out_cpu", self);
  return {per_rank(self, dtype), by_columns(self, self.sizes(), dtype)};
}

TensorSpec linalg_eigvals(const char*, const TensorBase& self) {
  check_square("linalg.eigvals", self);
  check_lapack_dtype("linalg_eig_out_cpu", self);
  return per_rank(self, c10::toComplexType(self.scalar_type()));
}

std::array<TensorSpec, 3> linalg_ldl_factor_ex(const char*, const TensorBase& self, bool, bool) {
  check_square("torch.linalg.ldl_factor_ex", self);
  check_floating_or_complex("torch.linalg.ldl_factor_ex", self);
  check_lapack_dtype("ldl_factor_kernel_cpu", self);
  return {by_columns(self, self.sizes()), per_rank(self, kInt), infos(self)};
}

// ---- outputs
// ---------------------------------------------------------------------------------------------------------------

void cholesky_inverse_out(const char*, const TensorBase& self, bool, const TensorBase& out) {
  check_castable_out("cholesky_inverse", "result", self.scalar_type(), out);
}

void geqrf_out(const char* op, const TensorBase& self, const TensorBase& a, const TensorBase& tau) {
  check_castable_out("torch.geqrf", "a", self.scalar_type(), a);
  check_castable_out("torch.geqrf", "tau", self.scalar_type(), tau);
  // PyTorch has a derivative here that is not implemented, so its out form asks as if there were one.
  TORCH_CHECK(
      !c10::GradMode::is_enabled() || !(self.requires_grad() || a.requires_grad() || tau.requires_grad()), op,
      "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires "
      "grad.");
}

void linalg_householder_product_out(const char*, const TensorBase& input, const TensorBase&, const TensorBase& out) {
  check_castable_out("torch.linalg.householder_product", "result", input.scalar_type(), out);
}

void ormqr_out(
    const char*, const TensorBase& input, const TensorBase&, const TensorBase&, bool, bool, const TensorBase& out) {
  TORCH_CHECK(
      out.scalar_type() == input.scalar_type(),
      "torch.ormqr: Expected input and result to have the same dtype, but input has dtype", input.scalar_type(),
      " and result has dtype ", out.scalar_type());
}

void linalg_eig_out(
    const char*, const TensorBase& self, const TensorBase& eigenvalues, const TensorBase& eigenvectors) {
  const auto dtype = c10::toComplexType(self.scalar_type());
  check_castable_out("torch.linalg.eig", "eigenvalues", dtype, eigenvalues);
  check_castable_out("torch.linalg.eig", "eigenvectors", dtype, eigenvectors);
}

/// The dtype of eigenvectors is looked at before that of eigenvalues.
void linalg_eigh_out(
    const char*, const TensorBase& A, std::string_view, bool, const TensorBase&, const TensorBase& eigenvectors) {
  TORCH_CHECK(
      eigenvectors.scalar_type() == A.scalar_type(), "Expected out tensor to have dtype ", A.dtype().name(),
      ", but got ", eigenvectors.dtype().name(), " instead, for the eigenvectors of linalg.eigh");
}

void linalg_pinv_out(const char*, const TensorBase& self, double, bool, const TensorBase& out) {
  check_castable_out("linalg.pinv", "result", self.scalar_type(), out);
}
void linalg_pinv_out(const char*, const TensorBase& self, const TensorBase&, bool, const TensorBase& out) {
  check_castable_out("linalg.pinv", "result", self.scalar_type(), out);
}

void nuclear_norm_out(const char*, const TensorBase& self, IntArrayRef, bool, const TensorBase& out) {
  const auto dtype = c10::toRealValueType(self.scalar_type());
  TORCH_CHECK(
      !(self.is_floating_point() || self.is_complex()) || out.scalar_type() == dtype,
      "linalg.matrix_norm expected out tensor dtype ", dtype, " but got: ", out.scalar_type());
}
void nuclear_norm_out(const char* op, const TensorBase& self, bool keepdim, const TensorBase& out) {
  nuclear_norm_out(op, self, {}, keepdim, out);
}

/// Layout of outputs that LAPACK fills where they are if it can: an empty one of the right dtype gets the layout of its
/// spec, even where its sizes fit, and any other that is resized is row-major.
void filled_in_place(std::initializer_list<const TensorBase*> outs, TensorSpec* specs) {
  for (const TensorBase* out : outs) {
    give_own_layout(*out, *specs, /*in_place=*/fits_in_place(*out, *specs));
    ++specs;
  }
}

} // namespace at::shape
