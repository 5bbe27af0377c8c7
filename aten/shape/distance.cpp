// Shapes of distances between rows. Every function throws on bad arguments.
#include <aten/shape/distance_checks.h>

#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/shape/matrix_checks.h>
#include <aten/shape/operand_checks.h>

#include <c10/core/WrapDimMinimal.h>

#include <optional>

namespace at::shape {
namespace {

void check_real(const char* op, const char* kernel, const TensorBase& t) {
  TORCH_CHECK(
      c10::isFloatingType(t.scalar_type()), op, " only supports floating-point dtypes, X1 got: ", t.scalar_type());
  if (!kFloatDouble.contains(t.scalar_type())) {
    at::detail::dtype_not_supported(kernel, t.scalar_type(), kFloatDouble.bits);
  }
}

int64_t pairs(int64_t n) {
  return n * (n - 1) / 2;
}

void check_pdist(const TensorBase& self, double p) {
  TORCH_CHECK(self.dim() == 2, "pdist only supports 2D tensors, got: ", self.dim(), "D");
  TORCH_CHECK(
      c10::isFloatingType(self.scalar_type()), "pdist only supports floating-point dtypes, got ", self.scalar_type());
  TORCH_CHECK(p >= 0, "pdist only supports non-negative p values, got ", p);
  check_real("pdist", "pdist", self);
}

} // namespace

void check_cdist(const TensorBase& x1, const TensorBase& x2, double p, std::optional<int64_t> compute_mode) {
  TORCH_CHECK(x1.dim() >= 2, "cdist only supports at least 2D tensors, X1 got: ", x1.dim(), "D");
  TORCH_CHECK(x2.dim() >= 2, "cdist only supports at least 2D tensors, X2 got: ", x2.dim(), "D");
  TORCH_CHECK(
      x1.size(-1) == x2.size(-1), "X1 and X2 must have the same number of columns. X1: ", x1.size(-1),
      " X2: ", x2.size(-1));
  TORCH_CHECK(
      c10::isFloatingType(x1.scalar_type()), "cdist only supports floating-point dtypes, X1 got: ", x1.scalar_type());
  TORCH_CHECK(
      c10::isFloatingType(x2.scalar_type()), "cdist only supports floating-point dtypes, X2 got: ", x2.scalar_type());
  TORCH_CHECK(
      x1.scalar_type() == x2.scalar_type(), "expected scalar type ", x1.scalar_type(), " but found ", x2.scalar_type(),
      " for the second tensor of cdist");
  TORCH_CHECK(p >= 0, "cdist only supports non-negative p values, got ", p);
  const int64_t mode = compute_mode.value_or(0);
  TORCH_CHECK(mode >= 0 && mode <= 2, "possible modes: 0, 1, 2, but was: ", mode);
  check_same_device("cdist", {&x1, &x2});
}

TensorSpec cdist_forward(
    const char* op, const TensorBase& x1, const TensorBase& x2, double p, std::optional<int64_t> compute_mode) {
  check_cdist(x1, x2, p, compute_mode);
  check_real("cdist", "cdist", x1);
  const auto batch = broadcast_batches(op, batch_sizes(x1), batch_sizes(x2));
  return TensorSpec::like(x1, joined(batch, {x1.size(-2), x2.size(-2)}));
}

TensorSpec cdist_backward(
    const char* op,
    const TensorBase& grad_output,
    const TensorBase& x1,
    const TensorBase& x2,
    double p,
    const TensorBase& cdist) {
  for (const int64_t d : {-1, -2}) {
    c10::maybe_wrap_dim(d, x1.dim(), /*wrap_scalar=*/false);
  }
  const TensorSpec forward = cdist_forward(op, x1, x2, p, std::nullopt);
  TORCH_CHECK(
      grad_output.sizes() == IntArrayRef(forward.sizes) && cdist.sizes() == IntArrayRef(forward.sizes), op,
      ": grad_output and cdist must have sizes ", IntArrayRef(forward.sizes), ", got ", grad_output.sizes(), " and ",
      cdist.sizes());
  TORCH_CHECK(
      grad_output.scalar_type() == x1.scalar_type() && cdist.scalar_type() == x1.scalar_type(), op,
      ": all tensors must be of dtype ", x1.scalar_type(), ", got ", grad_output.scalar_type(), " and ",
      cdist.scalar_type());
  check_same_device(op, {&x1, &grad_output, &cdist});
  c10::DimVector sizes = forward.sizes;
  sizes.back() = x1.size(-1);
  return TensorSpec::like(x1, sizes);
}

TensorSpec pdist_forward(const char*, const TensorBase& self, double p) {
  check_pdist(self, p);
  return TensorSpec::like(self, {pairs(self.size(0))});
}

TensorSpec pdist_backward(
    const char* op, const TensorBase& grad_output, const TensorBase& self, double p, const TensorBase& pdist) {
  check_pdist(self, p);
  const int64_t count = pairs(self.size(0));
  TORCH_CHECK(
      grad_output.dim() == 1 && grad_output.numel() == count && pdist.dim() == 1 && pdist.numel() == count, op,
      ": grad_output and pdist must have sizes [", count, "], got ", grad_output.sizes(), " and ", pdist.sizes());
  TORCH_CHECK(
      grad_output.scalar_type() == self.scalar_type() && pdist.scalar_type() == self.scalar_type(), op,
      ": all tensors must be of dtype ", self.scalar_type(), ", got ", grad_output.scalar_type(), " and ",
      pdist.scalar_type());
  check_same_device(op, {&self, &grad_output, &pdist});
  return TensorSpec::like(self, self.sizes());
}

TensorSpec linalg_cross(const char* op, const TensorBase& self, const TensorBase& other, int64_t dim) {
  TORCH_CHECK(
      self.dim() == other.dim(), "linalg.cross: inputs must have the same number of dimensions. Got ", self.dim(),
      " and ", other.dim());
  const int64_t wrapped = c10::maybe_wrap_dim(dim, self.dim(), /*wrap_scalar=*/false);
  TORCH_CHECK(
      self.size(wrapped) == 3 && other.size(wrapped) == 3, "linalg.cross: inputs dimension ", dim,
      " must have length 3. Got ", self.size(wrapped), " and ", other.size(wrapped));
  TORCH_CHECK(
      self.scalar_type() == other.scalar_type(), "expected scalar type ", self.scalar_type(), " but found ",
      other.scalar_type(), " for the second tensor of ", op);
  constexpr auto known = kAll - kBooleans;
  if (!known.contains(self.scalar_type())) {
    at::detail::dtype_not_supported("cross", self.scalar_type(), known.bits);
  }
  check_same_device(op, {&self, &other});
  return TensorSpec::like(self, broadcast_batches(op, self.sizes(), other.sizes()));
}

// An output shares no memory with an input: each of its elements needs two of each.
void linalg_cross_out(
    const char* /*op*/, const TensorBase& self, const TensorBase& other, int64_t /*dim*/, const TensorBase& out) {
  at::assert_no_overlap(out, self);
  at::assert_no_overlap(out, other);
}

} // namespace at::shape
