// embedding_bag: which of the kernels to call, and the gradient of its table.
#include <aten/Functions.h>
#include <aten/native/support/differentiated.h>

namespace at::native {

using BagResult = std::tuple<Tensor, Tensor, Tensor, Tensor>;

namespace {

BagResult reduce_bags(
    const Tensor& weight,
    const Tensor& indices,
    const Tensor& offsets,
    bool scale_grad_by_freq,
    int64_t mode,
    bool sparse,
    const std::optional<Tensor>& per_sample_weights,
    bool include_last_offset,
    int64_t padding_idx) {
  if (indices.scalar_type() != offsets.scalar_type()) {
    // Narrow offsets of wide indices will do, and the other way round.
    const ScalarType common = c10::promoteTypes(indices.scalar_type(), offsets.scalar_type());
    return reduce_bags(
        weight, indices.to(common), offsets.to(common), scale_grad_by_freq, mode, sparse, per_sample_weights,
        include_last_offset, padding_idx);
  }
  const bool weighted_grad =
      per_sample_weights.has_value() && (per_sample_weights->requires_grad() || is_differentiated(*per_sample_weights));
  if (!weight.requires_grad() && !is_differentiated(weight) && !weighted_grad) {
    return at::_embedding_bag_forward_only(
        weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
        padding_idx);
  }
  return at::_embedding_bag(
      weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx);
}

} // namespace

BagResult embedding_bag(
    const Tensor& weight,
    const Tensor& indices,
    const Tensor& offsets,
    bool scale_grad_by_freq,
    int64_t mode,
    bool sparse,
    const std::optional<Tensor>& per_sample_weights,
    bool include_last_offset) {
  return reduce_bags(
      weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
      /*padding_idx=*/-1);
}

BagResult embedding_bag_padding_idx(
    const Tensor& weight,
    const Tensor& indices,
    const Tensor& offsets,
    bool scale_grad_by_freq,
    int64_t mode,
    bool sparse,
    const std::optional<Tensor>& per_sample_weights,
    bool include_last_offset,
    std::optional<int64_t> padding_idx) {
  int64_t padding = -1;
  if (padding_idx) {
    TORCH_CHECK(weight.dim() == 2, "weight has to be a 2D Tensor, but got Tensor of dimension ", weight.dim());
    const int64_t rows = weight.size(0);
    TORCH_CHECK(
        *padding_idx >= -rows && *padding_idx < rows, "padding_idx must be within the number of embeddings, -", rows,
        " through ", rows - 1, ", but got ", *padding_idx);
    padding = *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
  }
  return reduce_bags(
      weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding);
}

Tensor _embedding_bag_backward(
    const Tensor& grad,
    const Tensor& indices,
    const Tensor& offsets,
    const Tensor& offset2bag,
    const Tensor& bag_size,
    const Tensor& maximum_indices,
    int64_t num_weights,
    bool scale_grad_by_freq,
    int64_t mode,
    bool sparse,
    const std::optional<Tensor>& per_sample_weights,
    int64_t padding_idx) {
  Tensor bag = offset2bag;
  if (offset2bag.numel() == 0 && indices.numel() > 0 && mode != 2) {
    // A plain sum did not say which bag an index is in: as many offsets are at or before it, but one.
    const Tensor positions = at::arange(indices.numel(), offsets.options());
    const Tensor starts = offsets.slice(0, 0, grad.size(0)).contiguous();
    bag = at::searchsorted(starts, positions, /*out_int32=*/false, /*right=*/true).sub(1).clamp_min(0);
  }
  if (sparse) {
    return at::_embedding_bag_sparse_backward(
        grad, indices, offsets, bag, bag_size, num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx);
  }
  return at::_embedding_bag_dense_backward(
      grad, indices, bag, bag_size, maximum_indices, num_weights, scale_grad_by_freq, mode, per_sample_weights,
      padding_idx);
}

} // namespace at::native
