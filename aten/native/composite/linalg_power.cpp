// Powers and the exponential of matrices, Vandermonde matrices, cross products.

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/native/composite/exact_out.h>
#include <aten/native/composite/linalg_support.h>
#include <aten/shape/matrix_checks.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cmath>

namespace at::native {

Tensor linalg_matrix_power(const Tensor& self, int64_t n) {
  at::shape::check_square("linalg.matrix_power", self);
  if (n == 0) {
    // Out of self, so that the result has a gradient, of zeros.
    const Tensor result = self.clone(MemoryFormat::Contiguous).zero_();
    result.diagonal(0, -2, -1).fill_(1);
    return result;
  }
  if (n == 1) {
    return self.clone(MemoryFormat::Contiguous);
  }
  if (n == -1) {
    return at::linalg_inv(self);
  }
  // Squares of the matrix, multiplied where n has a bit.
  Tensor square = n < 0 ? at::linalg_inv(self) : self;
  uint64_t bits = n < 0 ? uint64_t(0) - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
  if (bits == 3) {
    return at::matmul(at::matmul(square, square), square);
  }
  Tensor result;
  for (; bits != 0; bits >>= 1) {
    if ((bits & 1) != 0) {
      result = result.defined() ? at::matmul(result, square) : square;
    }
    if (bits > 1) {
      square = at::matmul(square, square);
    }
  }
  return result;
}

Tensor& linalg_matrix_power_out(const Tensor& self, int64_t n, Tensor& out) {
  TORCH_CHECK(
      c10::canCast(self.scalar_type(), out.scalar_type()), "matrix_power: Expected result to be safely castable from ",
      self.scalar_type(), " dtype, but got result with dtype ", out.scalar_type());
  if (n != 0 && n != 1) {
    return write_exact_out("linalg.matrix_power", out, at::linalg_matrix_power(self, n));
  }
  // These are copies, which may cast and are recorded.
  copy_into_out("linalg.matrix_power", out, at::linalg_matrix_power(self, n));
  return out;
}

namespace {

/// Taylor polynomial of exp of degree 18 for matrices whose 1-norm is at most one: its error is below 1 / 19!, about
/// 1e-17. TensorTuple3 squarings of the matrix and its coefficients in blocks of four make it in six products (Paterson
/// and Stockmeyer).
Tensor taylor_exponential(const Tensor& A) {
  constexpr int kBlock = 4;
  constexpr int kDegree = 18;
  double coefficient[kDegree + 1] = {1};
  for (int k = 1; k <= kDegree; ++k) {
    coefficient[k] = coefficient[k - 1] / k;
  }
  const Tensor one = at::eye(A.size(-1), A.options()).expand(A.sizes());
  const Tensor A2 = A.matmul(A), A3 = A2.matmul(A), A4 = A2.matmul(A2);
  const Tensor powers[kBlock] = {one, A, A2, A3};
  const auto block = [&](int first) {
    Tensor sum = powers[0] * coefficient[first];
    for (int k = 1; k < kBlock && first + k <= kDegree; ++k) {
      sum = sum + powers[k] * coefficient[first + k];
    }
    return sum;
  };
  Tensor result = block(16);
  for (int first = 12; first >= 0; first -= kBlock) {
    result = result.matmul(A4) + block(first);
  }
  return result;
}

Tensor exponential_of_matrices(const Tensor& self) {
  // The series must keep its precision: autocast is not for the products in here.
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const Tensor A = self.reshape({-1, self.size(-2), self.size(-1)});
  // A is halved until its norm is at most one, and its exponential squared as often. Matrices of a batch need not agree
  // on how often: those that are done are kept.
  const Tensor norms = A.abs().sum({-2}).amax({-1});
  const Tensor halvings = at::clamp_min(norms.log2().ceil(), 0).nan_to_num(0, 0, 0);
  const int64_t most = A.numel() == 0 ? 0 : halvings.max().item().to<int64_t>();
  const Tensor scale = at::exp2(-halvings).unsqueeze(-1).unsqueeze(-1);
  Tensor result = taylor_exponential(A * scale);
  for (int64_t done = 0; done < most; ++done) {
    result = at::where((halvings > done).unsqueeze(-1).unsqueeze(-1), result.matmul(result), result);
  }
  return result.reshape(self.sizes());
}

} // namespace

Tensor linalg_matrix_exp(const Tensor& self) {
  at::shape::check_square("linalg.matrix_exp", self);
  at::shape::check_floating_or_complex("matrix_exp", self);
  if (self.numel() == 0 || self.is_meta()) {
    return at::empty(self.sizes(), self.options());
  }
  if (self.size(-1) == 1) {
    return self.exp().contiguous();
  }
  const bool narrow = self.scalar_type() == kHalf || self.scalar_type() == kBFloat16;
  return narrow ? exponential_of_matrices(self.to(kFloat)).to(self.scalar_type()) : exponential_of_matrices(self);
}

Tensor matrix_exp(const Tensor& self) {
  return at::linalg_matrix_exp(self);
}

Tensor matrix_exp_backward(const Tensor& self, const Tensor& grad) {
  // The derivative of exp at A^H in direction G stands in the upper right block of exp of [[A^H, G], [0, A^H]].
  const Tensor A = self.mH();
  const int64_t n = A.size(-1);
  const Tensor above = at::cat({A, grad}, -1);
  const Tensor below = at::cat({at::zeros_like(A), A}, -1);
  return at::linalg_matrix_exp(at::cat({above, below}, -2)).narrow(-2, 0, n).narrow(-1, n, n);
}

// ---- vectors
// -------------------------------------------------------------------------------------------------------------

namespace {

/// The dimension of the vectors: the first of size three where none is given.
int64_t cross_dim(const Tensor& self, std::optional<int64_t> dim) {
  if (dim.has_value()) {
    return *dim;
  }
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.size(d) == 3) {
      return d;
    }
  }
  TORCH_CHECK(false, "no dimension of size 3 in input, which has sizes ", self.sizes());
}

} // namespace

Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  return at::linalg_cross(self, other, cross_dim(self, dim));
}

Tensor& cross_out(const Tensor& self, const Tensor& other, std::optional<int64_t> dim, Tensor& out) {
  return at::linalg_cross_out(out, self, other, cross_dim(self, dim));
}

Tensor linalg_diagonal(const Tensor& A, int64_t offset, int64_t dim1, int64_t dim2) {
  return A.diagonal(offset, dim1, dim2);
}

Tensor linalg_vander(const Tensor& x, std::optional<int64_t> N) {
  const auto dtype = x.scalar_type();
  TORCH_CHECK_NOT_IMPLEMENTED(
      dtype == kFloat || dtype == kDouble || c10::isComplexType(dtype) ||
          c10::isIntegralType(dtype, /*includeBool=*/false),
      "linalg.vander supports floating point, complex, and integer tensors, but got ", dtype);
  const int64_t columns = N.value_or(x.dim() == 0 ? 1 : x.size(-1));
  TORCH_CHECK(columns > 1, "N must be greater than 1. Got ", columns);
  const Tensor vectors = x.dim() == 0 ? x.unsqueeze(-1) : x;
  DimVector sizes(vectors.sizes().begin(), vectors.sizes().end());
  sizes.push_back(columns - 1);
  const Tensor powers = at::cumprod(vectors.unsqueeze(-1).expand(sizes), -1);
  sizes.back() = 1;
  return at::cat({at::ones(sizes, powers.options()), powers}, -1);
}

Tensor vander(const Tensor& x, std::optional<int64_t> N, bool increasing) {
  TORCH_CHECK(x.dim() == 1, "x must be a one-dimensional tensor. Got ", x.dim(), " dimensions");
  const int64_t columns = N.value_or(x.size(0));
  TORCH_CHECK(columns >= 0, "N must be non-negative. Got ", columns);
  const auto dtype = c10::isIntegralType(x.scalar_type(), /*includeBool=*/true) ? kLong : x.scalar_type();
  if (columns == 0) {
    return at::empty({x.size(0), 0}, x.options().dtype(dtype));
  }
  Tensor powers = at::ones({x.size(0), 1}, x.options().dtype(dtype));
  if (columns > 1) {
    powers = at::cat({powers, at::cumprod(x.to(dtype).unsqueeze(1).expand({x.size(0), columns - 1}), 1)}, 1);
  }
  return increasing ? powers : powers.flip({1});
}

// ---- factors and sums
// ------------------------------------------------------------------------------------------------------

Tensor linalg_matrix_sqrth(const Tensor& self) {
  at::shape::check_square("linalg.matrix_sqrth", self);
  at::shape::check_floating_or_complex("linalg.matrix_sqrth", self, /*low_precision=*/false);
  const auto [values, vectors] = at::linalg_eigh(self);
  // Rounding can leave a zero eigenvalue below zero.
  const Tensor roots = values.clamp_min(0).sqrt();
  return at::matmul(vectors * roots.unsqueeze(-2), vectors.mH());
}

std::tuple<Tensor, Tensor> linalg_polar(const Tensor& A) {
  at::shape::check_matrix("linalg.polar", A);
  TORCH_CHECK(
      A.size(-2) >= A.size(-1), "linalg.polar: input must have at least as many rows as columns, but got ", A.size(-2),
      " by ", A.size(-1), " matrices");
  const auto [U, S, Vh] = at::linalg_svd(A, /*full_matrices=*/false);
  return {at::matmul(U, Vh), at::matmul(Vh.mH() * S.unsqueeze(-2), Vh)};
}

Tensor linalg__powsum(
    const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  TORCH_CHECK(
      at::isFloatingType(self.scalar_type()) || at::isComplexType(self.scalar_type()),
      "linalg._powsum: Expected a floating point or complex tensor as input. Got ", self.scalar_type());
  return (dtype ? self.to(*dtype) : self).abs().pow(ord).sum(dim, keepdim);
}

Tensor _compute_linear_combination(const Tensor& input, const Tensor& coefficients) {
  TORCH_CHECK(
      coefficients.dim() == 2, "_compute_linear_combination: coefficients must be a matrix, got sizes ",
      coefficients.sizes());
  TORCH_CHECK(
      input.dim() > 0 && input.size(0) == coefficients.size(1), "_compute_linear_combination: coefficients ",
      coefficients.sizes(), " must have one column for each of input[i], got input of sizes ", input.sizes());
  return at::tensordot(coefficients, input, {1}, {0});
}

} // namespace at::native
