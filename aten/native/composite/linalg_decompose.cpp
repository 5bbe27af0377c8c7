// Factorizations in their public forms: the kernels' results without what only derivatives need, and with errors
// thrown.

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/native/composite/linalg_support.h>
#include <aten/native/support/replace_output.h>
#include <aten/shape/matrix_checks.h>

#include <cmath>

namespace at::native {
namespace {

void check_factorized(const char* api, const Tensor& info, const Tensor& A) {
  at::_linalg_check_errors(info, api, /*is_matrix=*/A.dim() == 2);
}

/// Throws what write_linalg_out throws, and writes nothing.
void check_linalg_out(const char* op, const Tensor& out, const Tensor& result, const char* name) {
  TORCH_CHECK(
      out.device() == result.device(), op, ": Expected ", name, " and input tensors to be on the same device, but got ",
      name, " on ", out.device(), " and input on ", result.device());
  TORCH_CHECK(
      c10::canCast(result.scalar_type(), out.scalar_type()), op, ": Expected ", name, " to be safely castable from ",
      result.scalar_type(), " dtype, but got ", name, " with dtype ", out.scalar_type());
  TORCH_CHECK(out.layout() == kStrided, op, ": Expected ", name, " to be strided, but got layout ", out.layout());
  if (out.sizes() == result.sizes()) {
    assert_no_internal_overlap(out);
  }
}

} // namespace

void write_linalg_out(const char* op, Tensor& out, const Tensor& result, const char* name) {
  check_linalg_out(op, out, result, name);
  copy_into_out(op, out, result);
}

// ---- Cholesky
// ----------------------------------------------------------------------------------------------------------

Tensor linalg_cholesky(const Tensor& self, bool upper) {
  const auto [L, info] = at::linalg_cholesky_ex(self, upper, /*check_errors=*/false);
  check_factorized("linalg.cholesky", info, self);
  return L;
}

Tensor& linalg_cholesky_out(const Tensor& self, bool upper, Tensor& out) {
  check_out_without_grad("linalg_cholesky", out);
  // Where there is no factorization, the output keeps what it holds.
  Tensor L = at::empty({0}, out.options()), info = at::empty({0}, self.options().dtype(kInt));
  at::linalg_cholesky_ex_out(L, info, self, upper, /*check_errors=*/false);
  check_factorized("linalg.cholesky", info, self);
  if (resize_output(out, L.sizes())) {
    out.as_strided_(L.sizes(), L.strides());
  }
  copy_into_out("linalg_cholesky", out, L);
  return out;
}

// ---- LU
// ------------------------------------------------------------------------------------------------------------------

std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& A, bool pivot) {
  const auto [LU, pivots, info] = at::linalg_lu_factor_ex(A, pivot, /*check_errors=*/false);
  check_factorized("torch.linalg.lu_factor", info, A);
  return {LU, pivots};
}

std::tuple<Tensor&, Tensor&> linalg_lu_factor_out(const Tensor& A, bool pivot, Tensor& LU, Tensor& pivots) {
  check_out_without_grad("linalg_lu_factor", LU);
  check_out_without_grad("linalg_lu_factor", pivots);
  Tensor factors = at::empty({0}, LU.options()), rows = at::empty({0}, pivots.options());
  Tensor info = at::empty({0}, A.options().dtype(kInt));
  at::linalg_lu_factor_ex_out(factors, rows, info, A, pivot, /*check_errors=*/false);
  check_factorized("torch.linalg.lu_factor", info, A);
  const TensorSpec specs[] = {TensorSpec::like(factors, factors.sizes()), TensorSpec::like(rows, rows.sizes())};
  OutArgument::check("linalg_lu_factor", {&LU, &pivots}, specs, {OutArgument::Form::Out, false, OutDtype::Exact});
  replace_output(LU, factors);
  replace_output(pivots, rows);
  return {LU, pivots};
}

std::tuple<Tensor, Tensor, Tensor> lu_with_info(const Tensor& self, bool pivot, bool check_errors) {
  return at::linalg_lu_factor_ex(self, pivot, check_errors);
}

Tensor linalg_det(const Tensor& A) {
  return std::get<0>(at::_linalg_det(A));
}

Tensor& linalg_det_out(const Tensor& A, Tensor& out) {
  Tensor LU = at::empty({0}, A.options()), pivots = at::empty({0}, A.options().dtype(kInt));
  at::_linalg_det_out(out, LU, pivots, A);
  return out;
}

std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& A) {
  const auto results = at::_linalg_slogdet(A);
  return {std::get<0>(results), std::get<1>(results)};
}

std::tuple<Tensor&, Tensor&> linalg_slogdet_out(const Tensor& A, Tensor& sign, Tensor& logabsdet) {
  Tensor LU = at::empty({0}, A.options()), pivots = at::empty({0}, A.options().dtype(kInt));
  at::_linalg_slogdet_out(sign, logabsdet, LU, pivots, A);
  return {sign, logabsdet};
}

Tensor logdet(const Tensor& self) {
  at::shape::check_square("logdet", self);
  at::shape::check_floating_or_complex("logdet", self, /*low_precision=*/false);
  const auto [sign, logabsdet] = at::linalg_slogdet(self);
  if (self.is_complex()) {
    return sign.log() + logabsdet;
  }
  return at::where(sign == -1., at::full({}, NAN, logabsdet.options()), logabsdet);
}

Tensor linalg_inv(const Tensor& A) {
  const auto [inverse, info] = at::linalg_inv_ex(A, /*check_errors=*/false);
  check_factorized("linalg.inv", info, A);
  return inverse;
}

Tensor& linalg_inv_out(const Tensor& A, Tensor& out) {
  check_out_without_grad("linalg_inv", out);
  // A singular matrix leaves the output as it is.
  Tensor inverse = at::empty({0}, out.options()), info = at::empty({0}, A.options().dtype(kInt));
  at::linalg_inv_ex_out(inverse, info, A, /*check_errors=*/false);
  check_factorized("linalg.inv", info, A);
  replace_output(out, inverse);
  return out;
}

// ---- QR
// ------------------------------------------------------------------------------------------------------------------

std::tuple<Tensor, Tensor> qr(const Tensor& self, bool some) {
  return at::linalg_qr(self, some ? "reduced" : "complete");
}

Tensor orgqr(const Tensor& self, const Tensor& input2) {
  return at::linalg_householder_product(self, input2);
}

Tensor& orgqr_out(const Tensor& self, const Tensor& input2, Tensor& out) {
  return at::linalg_householder_product_out(out, self, input2);
}

// ---- singular values
// ---------------------------------------------------------------------------------------------------------

std::tuple<Tensor, Tensor, Tensor> linalg_svd(
    const Tensor& A, bool full_matrices, std::optional<std::string_view> driver) {
  return at::_linalg_svd(A, full_matrices, /*compute_uv=*/true, driver);
}

std::tuple<Tensor&, Tensor&, Tensor&> linalg_svd_out(
    const Tensor& A, bool full_matrices, std::optional<std::string_view> driver, Tensor& U, Tensor& S, Tensor& Vh) {
  at::_linalg_svd_out(U, S, Vh, A, full_matrices, /*compute_uv=*/true, driver);
  return {U, S, Vh};
}

Tensor linalg_svdvals(const Tensor& A, std::optional<std::string_view> driver) {
  // The derivative of the values is made of the vectors.
  return std::get<1>(at::_linalg_svd(A, /*full_matrices=*/false, /*compute_uv=*/may_need_gradient(A), driver));
}

Tensor& linalg_svdvals_out(const Tensor& A, std::optional<std::string_view> driver, Tensor& out) {
  Tensor U = at::empty({0}, A.options()), Vh = at::empty({0}, A.options());
  at::_linalg_svd_out(U, out, Vh, A, /*full_matrices=*/false, /*compute_uv=*/false, driver);
  return out;
}

std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& self, bool some, bool compute_uv) {
  TORCH_CHECK(
      self.dim() >= 2, "linalg.svd: input should have at least 2 dimensions, but has ", self.dim(),
      " dimensions instead");
  if (compute_uv) {
    const auto [U, S, Vh] = at::linalg_svd(self, /*full_matrices=*/!some);
    return {U, S, Vh.mH()};
  }
  const Tensor S = at::linalg_svdvals(self);
  const auto zeros = [&](int64_t n) {
    DimVector sizes(self.sizes().begin(), self.sizes().end() - 2);
    sizes.push_back(n);
    sizes.push_back(n);
    return at::zeros(sizes, self.options());
  };
  return {zeros(self.size(-2)), S, zeros(self.size(-1))};
}

std::tuple<Tensor&, Tensor&, Tensor&> svd_out(
    const Tensor& self, bool some, bool compute_uv, Tensor& U, Tensor& S, Tensor& V) {
  const auto results = at::svd(self, some, compute_uv);
  for (const Tensor* zeros : {&U, &V}) {
    TORCH_CHECK(
        compute_uv || zeros->scalar_type() == self.scalar_type(), "torch.svd: Expected out tensor to have dtype ",
        self.scalar_type(), " but got ", zeros->scalar_type(), " instead");
  }
  const auto spec = [](const Tensor& result) { return TensorSpec::like(result, result.sizes()); };
  const TensorSpec specs[] = {spec(std::get<0>(results)), spec(std::get<1>(results)), spec(std::get<2>(results))};
  OutArgument::check("svd", {&U, &S, &V}, specs, {OutArgument::Form::Out, false, OutDtype::Exact});
  const auto write = [compute_uv](Tensor& out, const Tensor& result) {
    if (resize_output(out, result.sizes()) && compute_uv) {
      restride_output(out, result);
    }
    copy_into_out("svd", out, result, OutDtype::Exact);
  };
  write(U, std::get<0>(results));
  write(S, std::get<1>(results));
  write(V, std::get<2>(results));
  return {U, S, V};
}

// ---- eigenvalues
// --------------------------------------------------------------------------------------------------------------

std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& self, std::string_view UPLO) {
  return at::_linalg_eigh(self, UPLO, /*compute_v=*/true);
}

std::tuple<Tensor&, Tensor&> linalg_eigh_out(
    const Tensor& self, std::string_view UPLO, Tensor& eigvals, Tensor& eigvecs) {
  at::_linalg_eigh_out(eigvals, eigvecs, self, UPLO, /*compute_v=*/true);
  return {eigvals, eigvecs};
}

std::tuple<Tensor, Tensor> symeig(const Tensor& self, bool eigenvectors, bool upper) {
  const std::string_view triangle = upper ? "U" : "L";
  return eigenvectors ? at::linalg_eigh(self, triangle)
                      : std::tuple<Tensor, Tensor>(at::linalg_eigvalsh(self, triangle), at::empty({0}, self.options()));
}

Tensor linalg_eigvalsh(const Tensor& self, std::string_view UPLO) {
  return std::get<0>(at::_linalg_eigh(self, UPLO, /*compute_v=*/may_need_gradient(self)));
}

Tensor& linalg_eigvalsh_out(const Tensor& self, std::string_view UPLO, Tensor& out) {
  Tensor vectors = at::empty({0}, self.options());
  at::_linalg_eigh_out(out, vectors, self, UPLO, /*compute_v=*/false);
  return out;
}

Tensor linalg_eigvals(const Tensor& self) {
  return may_need_gradient(self) ? std::get<0>(at::linalg_eig(self)) : at::_linalg_eigvals(self);
}

Tensor& linalg_eigvals_out(const Tensor& self, Tensor& out) {
  const Tensor result = at::linalg_eigvals(self);
  check_linalg_out("torch.linalg.eigvals", out, result, "eigenvalues");
  if (out.numel() == 0 && out.scalar_type() == result.scalar_type()) {
    restride_output(out, result);
  }
  copy_into_out("torch.linalg.eigvals", out, result);
  return out;
}

// ---- LDL
// ---------------------------------------------------------------------------------------------------------------------

std::tuple<Tensor, Tensor> linalg_ldl_factor(const Tensor& self, bool hermitian) {
  const auto [LD, pivots, info] = at::linalg_ldl_factor_ex(self, hermitian, /*check_errors=*/false);
  check_factorized("torch.linalg.ldl_factor", info, self);
  return {LD, pivots};
}

std::tuple<Tensor&, Tensor&> linalg_ldl_factor_out(const Tensor& self, bool hermitian, Tensor& LD, Tensor& pivots) {
  Tensor info = at::empty({0}, self.options().dtype(kInt));
  at::linalg_ldl_factor_ex_out(LD, pivots, info, self, hermitian, /*check_errors=*/false);
  check_factorized("torch.linalg.ldl_factor", info, self);
  return {LD, pivots};
}

} // namespace at::native
