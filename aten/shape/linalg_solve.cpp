// Shapes of solutions of linear systems. Every function throws on bad arguments.
#include <aten/shape/solve_rules.h>

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/shape/matrix_checks.h>
#include <aten/shape/operand_checks.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace at::shape {
namespace {

/// Checks of the older solvers, which have messages of their own.
void check_older_solve(const char* op, const TensorBase& b, const TensorBase& A) {
  TORCH_CHECK(
      b.device() == A.device(), "Expected b and A to be on the same device, but found b on ", b.device(), " and A on ",
      A.device(), " instead.");
  TORCH_CHECK(
      b.scalar_type() == A.scalar_type(), "Expected b and A to have the same dtype, but found b of type ",
      b.scalar_type(), " and A of type ", A.scalar_type(), " instead.");
  TORCH_CHECK(
      A.size(-1) == A.size(-2), "A must be batches of square matrices, but they are ", A.size(-2), " by ", A.size(-1),
      " matrices (in ", op, ")");
  TORCH_CHECK(
      A.size(-1) == b.size(-2), "Incompatible matrix sizes for ", op, ": each A matrix is ", A.size(-1), " by ",
      A.size(-1), " but each b matrix is ", b.size(-2), " by ", b.size(-1));
}

TensorSpec solution(const char* op, const TensorBase& A, const TensorBase& B) {
  const auto batch = broadcast_batches(op, batch_sizes(B), batch_sizes(A));
  return by_columns(B, joined(batch, {B.size(-2), B.size(-1)}));
}

/// Matrices that are row-major.
TensorSpec by_rows(TensorSpec spec) {
  spec.strides.reset();
  return spec;
}

} // namespace

bool solve_takes_vector(const TensorBase& A, const TensorBase& B) {
  return B.dim() == 1 || (A.dim() - 1 == B.dim() && B.sizes() == A.sizes().slice(0, A.dim() - 1));
}

std::array<TensorSpec, 4> linalg_solve_ex(const char*, const TensorBase& A, const TensorBase& B, bool left, bool) {
  constexpr const char* op = "linalg.solve";
  check_floating_or_complex(op, A);
  check_same_kind(op, A, B, "A", "B");
  check_square(op, A);
  const bool vector = solve_takes_vector(A, B);
  const int64_t n = A.size(-1);
  TORCH_CHECK(
      left || !vector, op, ": Incompatible shapes of A and B for the equation XA = B (", n, "x", n, " and ", n,
      "x1); a vector can be ", "solved for with left=True only");
  if (!vector) {
    check_solve_sizes(op, A, B, left);
  } else {
    TORCH_CHECK(
        B.size(-1) == n, op, ": Incompatible shapes of A and B for the equation AX = B (", n, "x", n, " and ",
        B.size(-1), "x1)");
  }
  check_lapack_dtype("lu_cpu", A);
  const auto own = batch_sizes(A);
  const auto batch = broadcast_batches(op, own, batch_sizes(B, vector ? 1 : 2));
  TensorSpec result = by_columns(A, joined(batch, vector ? IntArrayRef{n, 1} : IntArrayRef{B.size(-2), B.size(-1)}));
  if (vector) {
    // Strides as of a matrix by columns whose rows are the batch; no one reads more into it.
    result = own.empty() ? TensorSpec::like(A, joined(batch, {n})) : by_columns(A, joined(batch, {n}));
  } else if (!left) {
    result = by_rows(std::move(result));
  }
  return {
      result, by_columns(A, A.sizes()), TensorSpec::like(A, joined(own, {n}), kInt), TensorSpec::like(A, own, kInt)};
}

TensorSpec linalg_lu_solve(
    const char*, const TensorBase& LU, const TensorBase& pivots, const TensorBase& B, bool left, bool) {
  constexpr const char* op = "linalg.lu_solve";
  check_floating_or_complex(op, LU);
  check_same_kind(op, LU, B, "LU", "B");
  TORCH_CHECK(
      pivots.scalar_type() == kInt, op, ": pivots should be a Tensor of scalar type torch.int32, got ",
      pivots.scalar_type());
  check_square("torch.linalg.lu_solve", LU);
  check_solve_sizes(op, LU, B, left);
  TORCH_CHECK(
      pivots.dim() >= 1 && LU.size(-1) == pivots.size(-1), op,
      ": Number of pivots per batch should be same as the dimension of the matrix; got pivots ", pivots.sizes(),
      " for ", LU.sizes());
  TORCH_CHECK(
      LU.sizes().slice(0, LU.dim() - 1) == pivots.sizes(), op,
      ": Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape ", pivots.sizes(),
      " instead");
  check_same_device(op, {&LU, &pivots, &B});
  check_lapack_dtype("linalg_lu_solve_cpu", LU);
  const TensorSpec result = solution(op, LU, B);
  return left ? result : by_rows(result);
}

TensorSpec linalg_ldl_solve(const char*, const TensorBase& LD, const TensorBase& pivots, const TensorBase& B, bool) {
  constexpr const char* op = "torch.linalg.ldl_solve";
  check_square(op, LD);
  check_floating_or_complex(op, LD);
  TORCH_CHECK(
      B.dim() >= 2, op, ": Expected B to have at least 2 dimensions, but it has ", B.dim(), " dimensions instead");
  check_older_solve(op, B, LD);
  TORCH_CHECK(
      pivots.sizes() == LD.sizes().slice(0, LD.dim() - 1), op,
      ": Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape ", pivots.sizes(),
      " instead");
  TORCH_CHECK(
      c10::isIntegralType(pivots.scalar_type(), /*includeBool=*/false), op, ": Expected pivots to be integers. Got ",
      pivots.scalar_type());
  TORCH_CHECK(
      pivots.scalar_type() == kInt, op, ": Expected pivots to be of dtype int32, as linalg.ldl_factor gives them. Got ",
      pivots.scalar_type());
  check_same_device(op, {&LD, &pivots, &B});
  check_lapack_dtype("ldl_solve_kernel_cpu", LD);
  return solution(op, LD, B);
}

TensorSpec linalg_solve_triangular(const char*, const TensorBase& self, const TensorBase& B, bool, bool left, bool) {
  constexpr const char* op = "linalg.solve_triangular";
  check_same_kind(op, self, B, "A", "B");
  check_solve_sizes(op, self, B, left);
  check_lapack_dtype("triangular_solve_cpu", self);
  const TensorSpec spec = solution(op, self, B);
  // A conjugated A that is column-major is solved for as its adjoint, and so the solution is row-major.
  return self.is_conj() && Tensor(self).mT().is_contiguous() ? by_rows(spec) : spec;
}

std::array<TensorSpec, 2> triangular_solve(
    const char* op, const TensorBase& self, const TensorBase& A, bool, bool, bool) {
  TORCH_CHECK(
      self.dim() >= 2, "torch.triangular_solve: Expected b to have at least 2 dimensions, but it has ", self.dim(),
      " dimensions instead");
  TORCH_CHECK(
      A.dim() >= 2, "torch.triangular_solve: Expected A to have at least 2 dimensions, but it has ", A.dim(),
      " dimensions instead");
  check_older_solve(op, self, A);
  check_lapack_dtype("triangular_solve_cpu", A);
  const auto batch = broadcast_batches(op, batch_sizes(self), batch_sizes(A));
  return {
      by_columns(self, joined(batch, {self.size(-2), self.size(-1)})),
      by_columns(A, joined(batch, {A.size(-2), A.size(-1)}))};
}

TensorSpec cholesky_solve(const char*, const TensorBase& self, const TensorBase& A, bool) {
  TORCH_CHECK(
      self.dim() >= 2, "b should have at least 2 dimensions, but has ", self.dim(),
      " dimensions instead (in cholesky_solve)");
  TORCH_CHECK(
      A.dim() >= 2, "u should have at least 2 dimensions, but has ", A.dim(),
      " dimensions instead (in cholesky_solve)");
  check_older_solve("cholesky_solve", self, A);
  check_lapack_dtype("cholesky_solve_cpu", A);
  return solution("cholesky_solve", A, self);
}

void cholesky_solve_out(const char*, const TensorBase& self, const TensorBase&, bool, const TensorBase& out) {
  check_castable_out("cholesky_solve", "result", self.scalar_type(), out);
}

// ---- least squares
// ---------------------------------------------------------------------------------------------------------

LstsqDriver lstsq_driver(std::optional<std::string_view> name) {
  if (!name.has_value()) {
    return LstsqDriver::Gelsy;
  }
  constexpr std::pair<std::string_view, LstsqDriver> known[] = {
      {"gels", LstsqDriver::Gels},
      {"gelsy", LstsqDriver::Gelsy},
      {"gelsd", LstsqDriver::Gelsd},
      {"gelss", LstsqDriver::Gelss}};
  for (const auto& [word, driver] : known) {
    if (word == *name) {
      return driver;
    }
  }
  TORCH_CHECK(
      false, "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got ", *name);
}

bool lstsq_takes_vector(const TensorBase& A, const TensorBase& B) {
  return solve_takes_vector(A, B);
}

double default_rcond(const TensorBase& A) {
  const bool wide = c10::toRealValueType(A.scalar_type()) == kDouble;
  return (wide ? std::numeric_limits<double>::epsilon() : double(std::numeric_limits<float>::epsilon())) *
      static_cast<double>(std::max(A.size(-2), A.size(-1)));
}

std::array<TensorSpec, 4> linalg_lstsq(
    const char*,
    const TensorBase& self,
    const TensorBase& b,
    std::optional<double>,
    std::optional<std::string_view> driver) {
  constexpr const char* op = "torch.linalg.lstsq";
  TORCH_CHECK(self.dim() >= 2, op, ": input must have at least 2 dimensions. Got ", self.dim());
  TORCH_CHECK(b.dim() >= 1, op, ": other must have at least 1 dimension. Got ", b.dim());
  TORCH_CHECK(
      self.scalar_type() == b.scalar_type(), op,
      ": Expected input and other to have the same dtype, but got input's dtype ", self.scalar_type(),
      " and other's dtype ", b.scalar_type());
  const int64_t difference = self.dim() - b.dim();
  TORCH_CHECK(
      difference >= 0 && difference <= 1, op,
      ": input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1; got ", self.dim(),
      " and ", b.dim());
  const bool vector = lstsq_takes_vector(self, b);
  TORCH_CHECK(
      vector || b.dim() > 1, op, ": input.size(-2) should match other.size(-1); got ", self.sizes(), " and ",
      b.sizes());
  TORCH_CHECK(
      self.size(-2) == b.size(vector ? -1 : -2), op, ": input.size(-2) should match other.size(", vector ? -1 : -2,
      "); got ", self.sizes(), " and ", b.sizes());
  const LstsqDriver method = self.is_cuda() ? lstsq_driver(driver.value_or("gels")) : lstsq_driver(driver);
  TORCH_CHECK(
      !self.is_cuda() || method == LstsqDriver::Gels, op,
      ": parameter `driver` other than `gels` is not supported on CUDA");
  check_same_device(op, {&self, &b});
  TORCH_CHECK(
      c10::isFloatingType(self.scalar_type()) || c10::isComplexType(self.scalar_type()),
      "This function doesn't handle types other than float and double (in ", op, "), got ", self.scalar_type());
  check_lapack_dtype("linalg_lstsq_cpu", self);
  const int64_t m = self.size(-2), n = self.size(-1), columns = vector ? 1 : b.size(-1);
  const auto batch = broadcast_batches(op, batch_sizes(self), batch_sizes(b, vector ? 1 : 2));
  const auto real = c10::toRealValueType(self.scalar_type());
  // LAPACK solves in place, in max(m, n) rows, and the solution is the upper part of that.
  TensorSpec result = by_columns(self, joined(batch, {std::max(m, n), columns}));
  if (vector) {
    result.strides->pop_back();
  }
  result.sizes = vector ? joined(batch, {n}) : joined(batch, {n, columns});
  const bool residuals = m > n && method != LstsqDriver::Gelsy;
  return {
      result, residuals ? TensorSpec::like(self, joined(batch, {columns}), real) : nothing(self, real),
      method == LstsqDriver::Gels ? nothing(self, kLong) : TensorSpec::like(self, batch, kLong),
      method == LstsqDriver::Gelsd || method == LstsqDriver::Gelss
          ? TensorSpec::like(self, joined(batch, {std::min(m, n)}), real)
          : nothing(self, real)};
}

// ---- outputs
// ---------------------------------------------------------------------------------------------------------------

void linalg_lstsq_out(
    const char*,
    const TensorBase& self,
    const TensorBase&,
    std::optional<double>,
    std::optional<std::string_view>,
    const TensorBase& solution,
    const TensorBase& residuals,
    const TensorBase& rank,
    const TensorBase& singular_values) {
  constexpr const char* op = "torch.linalg.lstsq";
  const auto real = c10::toRealValueType(self.scalar_type());
  check_castable_out(op, "solution", self.scalar_type(), solution);
  check_castable_out(op, "solution", real, residuals); // PyTorch calls them so
  check_castable_out(op, "rank", kLong, rank);
  check_castable_out(op, "singular_values", real, singular_values);
}

void linalg_solve_triangular_out(
    const char* op, const TensorBase& self, const TensorBase&, bool, bool, bool, const TensorBase& out) {
  check_out_dtype(op, self, out);
}

/// Layout of outputs without elements: that of their specs, even where their sizes fit.
void columns_when_empty(std::initializer_list<const TensorBase*> outs, TensorSpec* specs) {
  for (const TensorBase* out : outs) {
    give_own_layout(*out, *specs++, /*in_place=*/true);
  }
}

/// Layout of outputs that LAPACK fills where they are if it can do so with all of them: a column-major one takes the
/// layout of its spec where no output has elements in a layout, size or dtype to be copied to, and else lies by rows.
void all_in_place(std::initializer_list<const TensorBase*> outs, TensorSpec* specs) {
  const TensorSpec* spec = specs;
  bool in_place = true;
  for (const TensorBase* out : outs) {
    in_place = in_place && fits_in_place(*out, *spec++);
  }
  for (const TensorBase* out : outs) {
    if (specs->strides.has_value()) {
      give_own_layout(*out, *specs, in_place);
    }
    ++specs;
  }
}

} // namespace at::shape
