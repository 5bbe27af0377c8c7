// Gradients that are sparse because few rows of a table were read, and those of functions of sparse tensors.
#include <aten/native/sparse/compressed.h>
#include <aten/native/sparse/coo.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <c10/util/DimVector.h>

namespace at::native {

using c10::DimVector;

Tensor embedding_sparse_backward(
    const Tensor& grad_, const Tensor& indices_, int64_t num_weights, int64_t padding_idx, bool scale_grad_by_freq) {
  TORCH_CHECK(!scale_grad_by_freq, "embedding_backward: scale_grad_by_freq not supported with sparse gradients");
  TORCH_CHECK(
      indices_.scalar_type() == kLong || indices_.scalar_type() == kInt,
      "Expected tensor for argument #2 'indices' to have one of the following scalar types: Long, Int; but got ",
      indices_.toString(), " instead (while checking arguments for embedding_backward)");
  TORCH_CHECK(
      grad_.dim() > 0 && grad_.dim() == indices_.dim() + 1 &&
          grad_.sizes().slice(0, indices_.dim()) == indices_.sizes(),
      "embedding_sparse_backward: a gradient of size ", grad_.sizes(), " does not fit indices of size ",
      indices_.sizes());
  const int64_t width = grad_.size(-1);
  Tensor indices = indices_.reshape({-1}).to(kLong);
  Tensor grad = grad_.reshape({indices.numel(), width});
  if (padding_idx != -1) {
    const Tensor kept = indices.ne(padding_idx).nonzero().squeeze(1);
    indices = indices.index_select(0, kept);
    grad = grad.index_select(0, kept);
  }
  const Tensor places = indices.unsqueeze(0);
  const int64_t sizes[] = {num_weights, width};
  if (!places.is_meta()) {
    at::_validate_sparse_coo_tensor_args(places, grad, sizes);
  }
  return at::_sparse_coo_tensor_unsafe(places, grad, sizes);
}

Tensor _embedding_bag_sparse_backward(
    const Tensor& grad,
    const Tensor& indices,
    const Tensor& /*offsets*/,
    const Tensor& offset2bag,
    const Tensor& bag_size,
    int64_t num_weights,
    bool scale_grad_by_freq,
    int64_t mode,
    const std::optional<Tensor>& per_sample_weights,
    int64_t padding_idx) {
  TORCH_CHECK(mode == 0 || mode == 1, "embedding_bag: sparse gradients are not supported for mode 'max'");
  TORCH_CHECK(
      grad.dim() == 2 && offset2bag.numel() == indices.numel(),
      "_embedding_bag_sparse_backward: expected a matrix of gradients and a bag for each of the ", indices.numel(),
      " indices, got ", grad.sizes(), " and ", offset2bag.sizes());
  Tensor rows = grad.index_select(0, offset2bag);
  if (mode == 1) {
    rows = rows / bag_size.index_select(0, offset2bag).to(rows.scalar_type()).unsqueeze(1);
  }
  if (per_sample_weights.has_value() && per_sample_weights->defined()) {
    TORCH_CHECK(mode == 0, "embedding_bag: per_sample_weights only supported with mode='sum'");
    rows = rows * per_sample_weights->unsqueeze(1);
  }
  return at::embedding_sparse_backward(rows, indices, num_weights, padding_idx, scale_grad_by_freq);
}

Tensor _gather_sparse_backward(const Tensor& self, int64_t dim_, const Tensor& index_, const Tensor& grad_) {
  const int64_t dim = c10::maybe_wrap_dim(dim_, self.dim());
  if (self.dim() == 0) {
    return at::_sparse_coo_tensor_unsafe(
        at::empty({0, grad_.numel()}, index_.options()), grad_.reshape({-1}), self.sizes());
  }
  // A scalar index is one place of a vector.
  const bool scalar = index_.dim() == 0 && grad_.dim() == 0;
  const Tensor index = scalar ? index_.reshape({1}) : index_, grad = scalar ? grad_.reshape({1}) : grad_;
  TORCH_CHECK(
      index.dim() == self.dim() && grad.sizes() == index.sizes(), "_gather_sparse_backward: an index of size ",
      index.sizes(), " and a gradient of size ", grad.sizes(), " do not fit a tensor of size ", self.sizes());
  // Coordinates of all elements of the index, but along `dim` what it says.
  const Tensor places = at::sparse::full_coo_indices(index.sizes(), index.options());
  places.select(0, dim).copy_(index.reshape({-1}));
  const Tensor values = grad.reshape({-1});
  if (!places.is_meta()) {
    at::_validate_sparse_coo_tensor_args(places, values, self.sizes());
  }
  return at::_sparse_coo_tensor_unsafe(places, values, self.sizes());
}

Tensor threshold_backward_coo(const Tensor& grad, const Tensor& self, const Scalar& threshold) {
  check_coo("threshold_backward", "self", self);
  const Tensor input = coalesced(self);
  const Tensor at_places = grad.sparse_mask(input);
  return with_values(
      input, at::threshold_backward(get_sparse_impl(at_places)->values(), get_sparse_impl(input)->values(), threshold));
}

Tensor threshold_backward_compressed(const Tensor& grad, const Tensor& self, const Scalar& threshold) {
  const Tensor at_places = grad.sparse_mask(self);
  return with_compressed_values(
      self, at::threshold_backward(compressed_impl(at_places)->values(), compressed_impl(self)->values(), threshold));
}

} // namespace at::native
