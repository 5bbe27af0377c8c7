// Operators of neural networks that are made of others: softmax with a dtype, embeddings, one_hot, glu, distances.

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/Tensor.h>
#include <aten/core/Reduction.h>
#include <aten/native/composite/exact_out.h>
#include <aten/native/support/glu.h>
#include <aten/native/support/embedding_renorm.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/shape/iterated_out.h>

#include <c10/core/DeferredStorage.h>
#include <c10/util/irange.h>

#include <set>

namespace at::native {

// ---- softmax -------------------------------------------------------------------------------------------------------

Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  // On a device that can, half goes to float inside the kernel.
  if (self.is_cuda() && self.scalar_type() == kHalf && dtype == kFloat) {
    return at::_softmax(self, dim, true);
  }
  return at::_softmax(dtype.has_value() ? self.to(*dtype) : self, dim, false);
}

Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  if (self.is_cuda() && self.scalar_type() == kHalf && dtype == kFloat) {
    return at::_log_softmax(self, dim, true);
  }
  return at::_log_softmax(dtype.has_value() ? self.to(*dtype) : self, dim, false);
}

namespace {

/// Throws before anything is computed where `out` does not have the dtype of the result. Beyond that the result is
/// copied, and its history with it.
void check_softmax_out(
    const char* op, const Tensor& self, int64_t dim, std::optional<ScalarType> dtype, const Tensor& out) {
  c10::maybe_wrap_dim(dim, self.dim());
  const ScalarType result = dtype.value_or(self.scalar_type());
  TORCH_CHECK(
      out.scalar_type() == result, "Expected out tensor to have dtype ", c10::scalarTypeToTypeMeta(result).name(),
      ", but got ", out.dtype().name(), " instead (in ", op, ")");
}

} // namespace

Tensor& softmax_out(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype, Tensor& out) {
  check_softmax_out("softmax", self, dim, dtype, out);
  copy_into_out("softmax", out, at::softmax(self, dim, dtype));
  return out;
}

Tensor& log_softmax_out(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype, Tensor& out) {
  check_softmax_out("log_softmax", self, dim, dtype, out);
  copy_into_out("log_softmax", out, at::log_softmax(self, dim, dtype));
  return out;
}

// ---- embedding -----------------------------------------------------------------------------------------------------

Tensor embedding_backward(
    const Tensor& grad,
    const Tensor& indices,
    int64_t num_weights,
    int64_t padding_idx,
    bool scale_grad_by_freq,
    bool sparse) {
  if (sparse) {
    return at::embedding_sparse_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq);
  }
  return at::embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq);
}

void check_embedding_renorm(const Tensor& self, const Tensor& indices) {
  TORCH_CHECK(
      self.dim() == 2, "Expected 2-dimensional tensor, but got ", self.dim(),
      "-dimensional tensor for argument #1 'self' (while checking arguments for embedding_renorm_)");
  TORCH_CHECK(
      indices.scalar_type() == kLong || indices.scalar_type() == kInt,
      "Expected tensor for argument #2 'indices' to have one of the following scalar types: Long, Int; but got ",
      indices.toString(), " instead (while checking arguments for embedding_renorm_)");
}

Tensor& embedding_renorm_(Tensor& self, const Tensor& indices, double max_norm, double norm_type) {
  check_embedding_renorm(self, indices);
  const Tensor places = indices.to(kCPU, kLong).contiguous();
  c10::compute_storage(places.storage());
  const int64_t* index = places.const_data_ptr<int64_t>();
  const std::set<int64_t> rows(index, index + places.numel());
  for (const int64_t row : rows) {
    TORCH_CHECK_INDEX(
        row >= 0 && row < self.size(0), "index out of range in self: embedding_renorm_ got index ", row,
        " for a table of ", self.size(0), " rows");
  }
  for (const int64_t row : rows) {
    Tensor values = self.select(0, row);
    const double norm = values.norm(norm_type).item<double>();
    if (norm > max_norm) {
      values.mul_(max_norm / (norm + 1e-7));
    }
  }
  return self;
}

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  TORCH_CHECK(self.scalar_type() == kLong, "one_hot is only applicable to index tensor. Got ", self.scalar_type());
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  if (self.numel() == 0) {
    TORCH_CHECK(num_classes > 0, "Can not infer total number of classes from empty tensor. Pass num_classes");
    sizes.push_back(num_classes);
    return at::empty(sizes, self.options());
  }
  // On CUDA devices scatter finds indices that are out of range, without making the host wait for them.
  const bool looks = !self.is_cuda();
  if (looks) {
    const int64_t least = self.min().item<int64_t>();
    TORCH_CHECK(least >= 0, "Class values must be non-negative. Got ", least);
  }
  if (looks || num_classes == -1) {
    const int64_t greatest = self.max().item<int64_t>();
    TORCH_CHECK(
        num_classes == -1 || num_classes > greatest, "Class values must be smaller than num_classes. Got ", greatest,
        " of ", num_classes);
    num_classes = num_classes == -1 ? greatest + 1 : num_classes;
  }
  TORCH_CHECK(
      num_classes > 0, "one_hot: num_classes must be positive for indices that are given, or -1; got ", num_classes);
  sizes.push_back(num_classes);
  Tensor result = at::zeros(sizes, self.options());
  result.scatter_(-1, self.unsqueeze(-1), 1);
  return result;
}

// ---- gated linear unit ---------------------------------------------------------------------------------------------

int64_t half_size_of_glu(const Tensor& self, int64_t& dim) {
  TORCH_CHECK(self.dim() > 0, "glu does not support 0-dimensional tensors");
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const int64_t size = self.size(dim);
  TORCH_CHECK(size % 2 == 0, "Halving dimension must be even, but dimension ", dim, " is size ", size);
  return size / 2;
}

Tensor glu(const Tensor& self, int64_t dim) {
  const int64_t half = half_size_of_glu(self, dim);
  TORCH_CHECK_NOT_IMPLEMENTED(
      at::isFloatingType(self.scalar_type()), "\"glu_cpu\" not implemented for '", self.scalar_type(), "'");
  return self.narrow(dim, 0, half) * self.narrow(dim, half, half).sigmoid();
}

Tensor& glu_out(const Tensor& self, int64_t dim, Tensor& out) {
  const Tensor result = at::glu(self, dim);
  const int64_t half = half_size_of_glu(self, dim);
  const Tensor value = self.narrow(dim, 0, half), gate = self.narrow(dim, half, half);
  at::shape::check_iterated({&value, &gate, &out});
  copy_into_out("glu", out, result);
  return out;
}

Tensor glu_backward(const Tensor& grad_output, const Tensor& self, int64_t dim) {
  const int64_t half = half_size_of_glu(self, dim);
  const Tensor value = self.narrow(dim, 0, half), gate = self.narrow(dim, half, half).sigmoid();
  const Tensor grad_value = gate * grad_output;
  return at::cat({grad_value, grad_value * value * (1 - gate)}, dim);
}

Tensor& glu_backward_out(const Tensor& grad_output, const Tensor& self, int64_t dim, Tensor& grad_input) {
  const Tensor result = at::glu_backward(grad_output, self, dim);
  const int64_t half = half_size_of_glu(self, dim);
  if (grad_input.sizes() == self.sizes()) {
    const Tensor value = self.narrow(dim, 0, half), gate = self.narrow(dim, half, half);
    const Tensor of_value = grad_input.narrow(dim, 0, half), of_gate = grad_input.narrow(dim, half, half);
    at::shape::check_iterated({&gate, &grad_output, &of_value});
    at::shape::check_iterated({&value, &grad_output, &of_gate});
  } else if (grad_input.is_same(grad_output)) {
    at::assert_no_overlap(grad_input, grad_output); // which it would be, once it is resized
  }
  TORCH_CHECK(
      c10::canCast(result.scalar_type(), grad_input.scalar_type()), "result type ", result.scalar_type(),
      " can't be cast to the desired output type ", grad_input.scalar_type(), " (in glu_backward)");
  TORCH_CHECK(
      result.scalar_type() == grad_input.scalar_type(), "Found dtype ", result.scalar_type(), " but expected ",
      grad_input.scalar_type(), " (in glu_backward)");
  copy_into_out("glu_backward", grad_input, result);
  return grad_input;
}

Tensor glu_jvp(const Tensor& glu, const Tensor& x, const Tensor& dx, int64_t dim) {
  const int64_t half = half_size_of_glu(x, dim);
  TORCH_CHECK(dx.sizes() == x.sizes(), "glu_jvp: dx must have the sizes of x, ", x.sizes(), ", but got ", dx.sizes());
  const Tensor gate = x.narrow(dim, half, half).sigmoid();
  return gate * dx.narrow(dim, 0, half) + glu * (1 - gate) * dx.narrow(dim, half, half);
}

Tensor glu_backward_jvp(
    const Tensor& grad_x,
    const Tensor& /*grad_glu*/,
    const Tensor& x,
    const Tensor& dgrad_glu,
    const Tensor& dx,
    int64_t dim) {
  const int64_t half = half_size_of_glu(x, dim);
  TORCH_CHECK(
      dx.sizes() == x.sizes() && grad_x.sizes() == x.sizes(),
      "glu_backward_jvp: dx and grad_x must have the sizes of x, ", x.sizes(), ", but got ", dx.sizes(), " and ",
      grad_x.sizes());
  // With s = sigmoid(gate), grad_x = (grad_glu s, grad_glu s value (1 - s)): its first half stands for grad_glu s.
  const Tensor value = x.narrow(dim, 0, half), gate = x.narrow(dim, half, half).sigmoid();
  const Tensor dvalue = dx.narrow(dim, 0, half), dx_gate = dx.narrow(dim, half, half);
  const Tensor grad_value = grad_x.narrow(dim, 0, half), shut = 1 - gate;
  const Tensor dgrad_value = dgrad_glu * gate + grad_value * shut * dx_gate;
  const Tensor dgrad_gate =
      (dgrad_glu * gate * value + grad_value * (dvalue + value * (1 - 2 * gate) * dx_gate)) * shut;
  return at::cat({dgrad_value, dgrad_gate}, dim);
}

// ---- distances -----------------------------------------------------------------------------------------------------

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  const int64_t rank = std::max(x1.dim(), x2.dim());
  // The last dimension of the difference: of the operand of higher rank.
  const int64_t dim = rank > 0 ? rank - 1 : 0;
  return at::norm(x1 - x2 + eps, p, {dim}, keepdim);
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  const ScalarType dtype = at::result_type(x1, x2);
  TORCH_CHECK(at::isFloatingType(dtype), "expected common dtype to be floating point, yet common dtype is ", dtype);
  const std::vector<Tensor> both = at::broadcast_tensors({x1.to(dtype), x2.to(dtype)});
  const Tensor &a = both[0], &b = both[1];
  const auto norm_of = [&](const Tensor& x) { return at::linalg_vector_norm(x, 2, {dim}, /*keepdim=*/true); };
  // Each norm is held above eps by itself, so that the gradient of the other stays right.
  const auto held = [&](const Tensor& x) {
    const Tensor norm = norm_of(x);
    return at::where(norm.detach() < eps, norm.clamp_min(eps), norm);
  };
  return ((a / held(a)) * (b / held(b))).sum({dim});
}

} // namespace at::native
