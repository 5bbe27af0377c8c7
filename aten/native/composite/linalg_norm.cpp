// Norms of matrices, and condition numbers.

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/native/composite/linalg_support.h>
#include <aten/shape/matrix_checks.h>

#include <c10/core/WrapDimMinimal.h>

#include <cmath>

namespace at::native {
namespace {

struct Dims {
  int64_t row, col;
};

Dims matrix_dims(const char* op, const Tensor& A, IntArrayRef dim, std::optional<ScalarType> dtype) {
  at::shape::check_matrix(op, A);
  at::shape::check_floating_or_complex(op, A);
  TORCH_CHECK(dim.size() == 2, op, ": dim must be a 2-tuple. Got ", c10::Join(" ", dim));
  const Dims dims{c10::maybe_wrap_dim(dim[0], A.dim()), c10::maybe_wrap_dim(dim[1], A.dim())};
  TORCH_CHECK(dims.row != dims.col, op, ": dims must be different. Got (", dims.row, ", ", dims.col, ")");
  if (dtype.has_value()) {
    TORCH_CHECK(
        at::isFloatingType(*dtype) || at::isComplexType(*dtype), op,
        ": dtype should be floating point or complex, but got ", *dtype);
    TORCH_CHECK(
        at::isComplexType(A.scalar_type()) == at::isComplexType(*dtype), op, ": dtype should be ",
        A.is_complex() ? "complex" : "real", " for ", A.is_complex() ? "complex" : "real", " inputs, but got ", *dtype);
    TORCH_CHECK(
        c10::promoteTypes(A.scalar_type(), *dtype) == *dtype, op, ": the dtype of the input (", A.scalar_type(),
        ") should be convertible without narrowing to the specified dtype (", *dtype, ")");
  }
  return dims;
}

/// `A` with its matrices in the last two dimensions.
Tensor matrices_last(const Tensor& A, Dims dims) {
  DimVector order;
  for (int64_t d = 0; d < A.dim(); ++d) {
    if (d != dims.row && d != dims.col) {
      order.push_back(d);
    }
  }
  order.push_back(dims.row);
  order.push_back(dims.col);
  return A.permute(order);
}

Tensor restore_dims(Tensor result, Dims dims) {
  return result.unsqueeze(std::min(dims.row, dims.col)).unsqueeze(std::max(dims.row, dims.col));
}

Tensor in_dtype(const Tensor& A, std::optional<ScalarType> dtype) {
  return dtype.has_value() ? A.to(*dtype) : A;
}

std::string printed(const Scalar& ord) {
  return ord.isIntegral(/*includeBool=*/true) ? std::to_string(ord.to<int64_t>()) : std::to_string(ord.to<double>());
}

Tensor& write_norm(const char* op, Tensor& out, const Tensor& result) {
  TORCH_CHECK(
      out.scalar_type() == result.scalar_type(), op, " expected out tensor dtype ", result.scalar_type(),
      " but got: ", out.scalar_type());
  write_linalg_out(op, out, result);
  return out;
}

} // namespace

// ---- matrix norms
// ----------------------------------------------------------------------------------------------------------

Tensor linalg_matrix_norm(
    const Tensor& self, const Scalar& ord, IntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  constexpr const char* op = "linalg.matrix_norm";
  const double order = ord.to<double>(), size = std::abs(order);
  TORCH_CHECK(size == 1 || size == 2 || size == INFINITY, op, ": Order ", printed(ord), " not supported.");
  const Dims dims = matrix_dims(op, self, dim, dtype);
  const bool largest = order > 0;
  if (size == 2) {
    at::shape::check_floating_or_complex(op, self, /*low_precision=*/false);
    const Tensor values = at::linalg_svdvals(matrices_last(in_dtype(self, dtype), dims));
    const Tensor result = largest ? values.amax({-1}) : values.amin({-1});
    return keepdim ? restore_dims(result, dims) : result;
  }
  // Sums over rows (or columns) of magnitudes, and of those the largest or smallest.
  int64_t summed = dims.row, chosen = dims.col;
  if (size == INFINITY) {
    std::swap(summed, chosen);
  }
  if (!keepdim && chosen > summed) {
    --chosen;
  }
  const Tensor sums = at::linalg_vector_norm(self, 1, IntArrayRef{summed}, keepdim, dtype);
  return largest ? sums.amax({chosen}, keepdim) : sums.amin({chosen}, keepdim);
}

Tensor& linalg_matrix_norm_out(
    const Tensor& self,
    const Scalar& ord,
    IntArrayRef dim,
    bool keepdim,
    std::optional<ScalarType> dtype,
    Tensor& out) {
  return write_norm("linalg.matrix_norm", out, at::linalg_matrix_norm(self, ord, dim, keepdim, dtype));
}

Tensor linalg_matrix_norm_str(
    const Tensor& self, std::string_view ord, IntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  constexpr const char* op = "linalg.matrix_norm";
  TORCH_CHECK(ord == "fro" || ord == "nuc", op, ": Order ", ord, " not supported.");
  const Dims dims = matrix_dims(op, self, dim, dtype);
  if (ord == "fro") {
    return at::linalg_vector_norm(self, 2, IntArrayRef{dims.row, dims.col}, keepdim, dtype);
  }
  at::shape::check_floating_or_complex(op, self, /*low_precision=*/false);
  const Tensor result = at::linalg_svdvals(matrices_last(in_dtype(self, dtype), dims)).sum({-1});
  return keepdim ? restore_dims(result, dims) : result;
}

Tensor& linalg_matrix_norm_str_out(
    const Tensor& self,
    std::string_view ord,
    IntArrayRef dim,
    bool keepdim,
    std::optional<ScalarType> dtype,
    Tensor& out) {
  return write_norm("linalg.matrix_norm", out, linalg_matrix_norm_str(self, ord, dim, keepdim, dtype));
}

// ---- of vectors or matrices
// --------------------------------------------------------------------------------------------------

namespace {

void check_norm_dims(const Tensor& self, OptionalIntArrayRef dim) {
  if (dim.has_value()) {
    TORCH_CHECK(
        dim->size() == 1 || dim->size() == 2, "linalg.norm: If dim is specified, it must be of length 1 or 2. Got ",
        *dim);
  } else {
    TORCH_CHECK(
        self.dim() == 1 || self.dim() == 2,
        "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ", self.dim(), "D.");
  }
}

} // namespace

Tensor linalg_norm(
    const Tensor& self,
    const std::optional<Scalar>& ord,
    OptionalIntArrayRef dim,
    bool keepdim,
    std::optional<ScalarType> dtype) {
  if (dim.has_value() || ord.has_value()) {
    check_norm_dims(self, dim);
  }
  if (ord.has_value() && ((dim.has_value() && dim->size() == 2) || (!dim.has_value() && self.dim() == 2))) {
    return at::linalg_matrix_norm(self, *ord, dim.has_value() ? *dim : IntArrayRef{0, 1}, keepdim, dtype);
  }
  return at::linalg_vector_norm(self, ord.value_or(Scalar(2.0)), dim, keepdim, dtype);
}

Tensor& linalg_norm_out(
    const Tensor& self,
    const std::optional<Scalar>& ord,
    OptionalIntArrayRef dim,
    bool keepdim,
    std::optional<ScalarType> dtype,
    Tensor& out) {
  return write_norm("linalg.norm", out, at::linalg_norm(self, ord, dim, keepdim, dtype));
}

Tensor linalg_norm_str(
    const Tensor& self, std::string_view ord, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  check_norm_dims(self, dim);
  return at::linalg_matrix_norm(self, ord, dim.has_value() ? *dim : IntArrayRef{-2, -1}, keepdim, dtype);
}

Tensor& linalg_norm_str_out(
    const Tensor& self,
    std::string_view ord,
    OptionalIntArrayRef dim,
    bool keepdim,
    std::optional<ScalarType> dtype,
    Tensor& out) {
  return write_norm("linalg.norm", out, linalg_norm_str(self, ord, dim, keepdim, dtype));
}

Tensor nuclear_norm_all(const Tensor& self, bool keepdim) {
  TORCH_CHECK(
      self.dim() >= 2, "Expected a tensor with 2 dimensions, but got a tensor with ", self.dim(), " dimension",
      self.dim() == 1 ? "" : "s", " instead. (in nuclear_norm)");
  return at::linalg_matrix_norm(self, "nuc", IntArrayRef{-2, -1}, keepdim);
}

Tensor nuclear_norm(const Tensor& self, IntArrayRef dim, bool keepdim) {
  TORCH_CHECK(dim.size() == 2, "nuclear norm requires a 'dim' argument of size 2, got ", dim);
  TORCH_CHECK(
      c10::maybe_wrap_dim(dim[0], self.dim()) != c10::maybe_wrap_dim(dim[1], self.dim()),
      "duplicate or invalid dimensions: nuclear_norm got ", dim);
  return at::linalg_matrix_norm(self, "nuc", dim, keepdim);
}

// ---- condition numbers
// ---------------------------------------------------------------------------------------------------------

namespace {

void check_cond_input(const Tensor& self) {
  TORCH_CHECK(self.dim() >= 2, "linalg.cond: The input tensor must have at least 2 dimensions. Got ", self.dim());
}

Tensor empty_cond(const Tensor& self) {
  return at::zeros(
      self.sizes().slice(0, self.dim() - 2), self.options().dtype(c10::toRealValueType(self.scalar_type())));
}

/// norm(A) norm(A^-1); infinity for matrices without an inverse.
template <class Norm>
Tensor cond_by_inverse(const Tensor& self, const Norm& norm) {
  const Tensor result = norm(self) * norm(std::get<0>(at::linalg_inv_ex(self)));
  // The inverse of a singular matrix has infinities, or, by 0 * infinity, NaN.
  return result.nan_to_num(INFINITY, INFINITY, -INFINITY);
}

} // namespace

Tensor linalg_cond(const Tensor& self, const std::optional<Scalar>& p) {
  check_cond_input(self);
  const double order = p.has_value() ? p->to<double>() : 2.0, size = std::abs(order);
  TORCH_CHECK_VALUE(size == 1 || size == 2 || size == INFINITY, "linalg.cond got an invalid norm type: ", printed(*p));
  if (self.numel() == 0) {
    return empty_cond(self);
  }
  if (size == 2) {
    const Tensor values = at::linalg_svdvals(self);
    const Tensor first = values.select(-1, 0), last = values.select(-1, -1);
    return order > 0 ? first / last : last / first;
  }
  at::shape::check_square(
      order == INFINITY        ? "linalg.cond(ord=inf)"
          : order == -INFINITY ? "linalg.cond(ord=-inf)"
          : order > 0          ? "linalg.cond(ord=1)"
                               : "linalg.cond(ord=-1)",
      self);
  return cond_by_inverse(self, [&](const Tensor& A) { return at::linalg_matrix_norm(A, *p); });
}

Tensor& linalg_cond_out(const Tensor& self, const std::optional<Scalar>& p, Tensor& out) {
  write_linalg_out("linalg.cond", out, at::linalg_cond(self, p), "result");
  return out;
}

Tensor linalg_cond_str(const Tensor& self, std::string_view p) {
  at::shape::check_square(c10::str("linalg.cond(ord=", p, ")").c_str(), self);
  check_cond_input(self);
  TORCH_CHECK_VALUE(p == "fro" || p == "nuc", "linalg.cond got an invalid norm type: ", p);
  if (self.numel() == 0) {
    return empty_cond(self);
  }
  return cond_by_inverse(self, [&](const Tensor& A) { return at::linalg_matrix_norm(A, p); });
}

Tensor& linalg_cond_str_out(const Tensor& self, std::string_view p, Tensor& out) {
  write_linalg_out("linalg.cond", out, linalg_cond_str(self, p), "result");
  return out;
}

} // namespace at::native
