// Pseudo-inverse and rank, by singular values.

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/native/composite/linalg_support.h>
#include <aten/shape/solve_rules.h>
#include <aten/shape/matrix_checks.h>

#include <limits>

namespace at::native {
namespace {

struct Tolerances {
  Tensor absolute, relative;
};

Tensor number(double value, const Tensor& like) {
  return at::full({}, value, like.options().dtype(kDouble));
}

void check_tolerance(const char* op, const Tensor& t, const char* name) {
  TORCH_CHECK(!t.is_complex(), op, ": ", name, " tensor of complex type is not supported. Got ", t.scalar_type());
}

/// The relative one defaults to epsilon times the larger side, unless a positive absolute one is given.
Tolerances tolerances(
    const char* op, const Tensor& A, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol) {
  Tolerances t;
  const bool given = atol.has_value() && atol->defined();
  t.absolute = given ? *atol : number(0, A);
  check_tolerance(op, t.absolute, "atol");
  if (rtol.has_value() && rtol->defined()) {
    t.relative = *rtol;
    check_tolerance(op, t.relative, "rtol");
    return t;
  }
  TORCH_CHECK(
      at::isFloatingType(A.scalar_type()) || at::isComplexType(A.scalar_type()),
      "This function doesn't handle types other than float and double (in ", op, "), got ", A.scalar_type());
  const double epsilon = at::shape::default_rcond(A);
  t.relative = given ? at::where(t.absolute > 0, number(0, A), number(epsilon, A)) : number(epsilon, A);
  return t;
}

/// The same for plain numbers.
std::pair<Tensor, Tensor> tolerances(
    const char* op, const Tensor& A, std::optional<double> atol, std::optional<double> rtol) {
  const auto wrap = [&](std::optional<double> value) {
    return value.has_value() ? std::optional<Tensor>(number(*value, A)) : std::nullopt;
  };
  Tolerances t = tolerances(op, A, wrap(atol), wrap(rtol));
  return {t.absolute, t.relative};
}

Tensor rank_of(const Tensor& A, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  if (A.numel() == 0) {
    return at::zeros(A.sizes().slice(0, A.dim() - 2), A.options().dtype(kLong));
  }
  const Tensor values = hermitian ? at::linalg_eigvalsh(A).abs() : at::linalg_svdvals(A);
  // Eigenvalues are sorted by sign, so the largest magnitude may stand at either end.
  const Tensor largest = hermitian ? values.amax({-1}) : values.narrow(-1, 0, 1).squeeze(-1);
  const Tensor tolerance = at::maximum(atol.to(largest.scalar_type()), rtol.to(largest.scalar_type()) * largest);
  return (values > tolerance.unsqueeze(-1)).sum({-1}, /*keepdim=*/false, kLong);
}

void check_rank_input(const Tensor& A) {
  at::shape::check_matrix("torch.linalg.matrix_rank", A, "input");
}

Tensor& write_rank(Tensor& out, const Tensor& rank) {
  write_linalg_out("torch.linalg.matrix_rank", out, rank, "result");
  return out;
}

} // namespace

// ---- pseudo-inverse
// --------------------------------------------------------------------------------------------------------

namespace {

void check_pinv(const Tensor& self) {
  const auto dtype = self.scalar_type();
  TORCH_CHECK(
      self.dim() >= 2 && (dtype == kFloat || dtype == kDouble || dtype == kComplexFloat || dtype == kComplexDouble),
      "linalg.pinv(", dtype, "{", self.sizes(),
      "}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types");
}

} // namespace

Tensor linalg_pinv_tensors(
    const Tensor& self, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol, bool hermitian) {
  check_pinv(self);
  const auto dtype = self.scalar_type();
  const Tolerances given = tolerances("torch.linalg.pinv", self, atol, rtol);
  if (self.numel() == 0) {
    // An empty matrix has an empty transpose, which the product below gives the right dtype and device.
    DimVector sizes(self.sizes().begin(), self.sizes().end());
    std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
    return at::zeros(sizes, self.options());
  }
  const auto cut = [&](const Tensor& sizes_of_values, const Tensor& largest) {
    const Tensor atol_ = given.absolute.to(largest.scalar_type()), rtol_ = given.relative.to(largest.scalar_type());
    const Tensor tolerance = at::maximum(atol_.unsqueeze(-1), rtol_.unsqueeze(-1) * largest);
    return sizes_of_values > tolerance;
  };
  if (!hermitian) {
    const auto [U, S, Vh] = at::linalg_svd(self, /*full_matrices=*/false);
    const Tensor inverse = at::where(cut(S, S.narrow(-1, 0, 1)), S.reciprocal(), at::zeros({}, S.options())).to(dtype);
    return at::matmul(Vh.mH() * inverse.unsqueeze(-2), U.mH());
  }
  const auto [L, V] = at::linalg_eigh(self);
  const Tensor sizes = L.abs();
  const Tensor inverse =
      at::where(cut(sizes, sizes.amax({-1}, /*keepdim=*/true)), L.reciprocal(), at::zeros({}, L.options())).to(dtype);
  return at::matmul(V * inverse.unsqueeze(-2), V.mH());
}

Tensor& linalg_pinv_tensors_out(
    const Tensor& self,
    const std::optional<Tensor>& atol,
    const std::optional<Tensor>& rtol,
    bool hermitian,
    Tensor& out) {
  write_linalg_out("linalg.pinv", out, linalg_pinv_tensors(self, atol, rtol, hermitian), "result");
  return out;
}

Tensor linalg_pinv_floats(const Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian) {
  if (self.dim() == 0) {
    check_pinv(self);
  }
  const auto [absolute, relative] =
      tolerances("torch.linalg.pinv", self.dim() < 2 ? self.expand({1, -1}) : self, atol, rtol);
  return at::linalg_pinv(self, std::optional<Tensor>(absolute), std::optional<Tensor>(relative), hermitian);
}

Tensor& linalg_pinv_floats_out(
    const Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian, Tensor& out) {
  write_linalg_out("linalg.pinv", out, linalg_pinv_floats(self, atol, rtol, hermitian), "result");
  return out;
}

Tensor linalg_pinv_rcond(const Tensor& self, double rcond, bool hermitian) {
  return at::linalg_pinv(self, std::optional<double>(0.0), std::optional<double>(rcond), hermitian);
}

Tensor linalg_pinv_rcond_tensor(const Tensor& self, const Tensor& rcond, bool hermitian) {
  check_tolerance("torch.linalg.pinv", rcond, "rcond");
  return at::linalg_pinv(self, std::optional<Tensor>(number(0, self)), std::optional<Tensor>(rcond), hermitian);
}

Tensor pinverse(const Tensor& self, double rcond) {
  return at::linalg_pinv(self, rcond, /*hermitian=*/false);
}

// ---- rank
// --------------------------------------------------------------------------------------------------------------------

Tensor linalg_matrix_rank_tensors(
    const Tensor& input, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol, bool hermitian) {
  check_rank_input(input);
  const Tolerances given = tolerances("torch.linalg.matrix_rank", input, atol, rtol);
  return rank_of(input, given.absolute, given.relative, hermitian);
}

Tensor& linalg_matrix_rank_tensors_out(
    const Tensor& input,
    const std::optional<Tensor>& atol,
    const std::optional<Tensor>& rtol,
    bool hermitian,
    Tensor& out) {
  return write_rank(out, linalg_matrix_rank_tensors(input, atol, rtol, hermitian));
}

Tensor linalg_matrix_rank_floats(
    const Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian) {
  check_rank_input(self);
  const auto [absolute, relative] = tolerances("torch.linalg.matrix_rank", self, atol, rtol);
  return rank_of(self, absolute, relative, hermitian);
}

Tensor& linalg_matrix_rank_floats_out(
    const Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian, Tensor& out) {
  return write_rank(out, linalg_matrix_rank_floats(self, atol, rtol, hermitian));
}

Tensor linalg_matrix_rank_tol(const Tensor& self, double tol, bool hermitian) {
  check_rank_input(self);
  return rank_of(self, number(tol, self), number(0, self), hermitian);
}

Tensor& linalg_matrix_rank_tol_out(const Tensor& self, double tol, bool hermitian, Tensor& out) {
  return write_rank(out, linalg_matrix_rank_tol(self, tol, hermitian));
}

Tensor linalg_matrix_rank_tol_tensor(const Tensor& input, const Tensor& tol, bool hermitian) {
  check_rank_input(input);
  check_tolerance("torch.linalg.matrix_rank", tol, "tol");
  return rank_of(input, tol, number(0, input), hermitian);
}

Tensor& linalg_matrix_rank_tol_tensor_out(const Tensor& input, const Tensor& tol, bool hermitian, Tensor& out) {
  return write_rank(out, linalg_matrix_rank_tol_tensor(input, tol, hermitian));
}

} // namespace at::native
