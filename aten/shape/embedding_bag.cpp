// Shape functions of embedding_bag and its gradients. Values of indices and offsets are checked by the kernels.
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>

#include <array>
#include <optional>
#include <string_view>

namespace at::shape {
namespace {

enum Mode : int64_t { Sum, Mean, Max };

bool is_index(const TensorBase& t) {
  return t.scalar_type() == kLong || t.scalar_type() == kInt;
}

void check_index(const char* name, int position, const TensorBase& t) {
  TORCH_CHECK(
      is_index(t), "Expected tensor for argument #", position, " '", name,
      "' to have one of the following scalar types: Long, Int; but got ", t.toString(),
      " instead (while checking arguments for embedding_bag)");
}

bool is_given(const std::optional<Tensor>& t) {
  return t.has_value() && t->defined();
}

} // namespace

/// The reduced rows, the bag of each index, the sizes of bags, and the rows that maxima come from.
std::array<TensorSpec, 4> embedding_bag(
    const char* op,
    const TensorBase& weight,
    const TensorBase& indices,
    const TensorBase& offsets,
    bool,
    int64_t mode,
    bool,
    const std::optional<Tensor>& per_sample_weights,
    bool include_last_offset,
    int64_t padding_idx) {
  check_index("indices", 1, indices);
  check_index("offsets", 1, offsets);
  TORCH_CHECK(
      weight.is_floating_point(),
      "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, "
      "Float, Double; but got ",
      weight.toString(), " instead (while checking arguments for embedding_bag)");
  TORCH_CHECK(
      mode == Sum || mode == Mean || mode == Max, "`mode` must be sum, mean, or max. It is 0, 1 or 2, got ", mode);
  TORCH_CHECK(weight.dim() == 2, "weight has to be a 2D Tensor, but got Tensor of dimension ", weight.dim());
  TORCH_CHECK(indices.dim() == 1, "input has to be a 1D Tensor, but got Tensor of dimension ", indices.dim());
  TORCH_CHECK(offsets.dim() == 1, "offsets has to be a 1D Tensor, but got Tensor of dimension ", offsets.dim());
  TORCH_CHECK(
      weight.device() == indices.device() && weight.device() == offsets.device(),
      "Expected all tensors to be on the same device, but found weight on ", weight.device(), ", indices on ",
      indices.device(), ", offsets on ", offsets.device(), " (in ", op, ")");
  TORCH_CHECK(
      !include_last_offset || offsets.numel() >= 1, "include_last_offset: number of offset should be at least 1");
  if (is_given(per_sample_weights)) {
    TORCH_CHECK(mode == Sum, "embedding_bag: per_sample_weights only supported with mode='sum'");
    TORCH_CHECK(
        per_sample_weights->scalar_type() == weight.scalar_type(),
        "Expected tensor for argument #1 'weight' to have the same type as "
        "tensor for argument #1 'per_sample_weights'; but type ",
        weight.toString(), " does not equal ", per_sample_weights->toString(),
        " (while checking arguments for embedding_bag)");
    TORCH_CHECK(
        per_sample_weights->dim() == 1 && per_sample_weights->numel() == indices.numel(),
        "Expected per_sample_weights.value().numel() == indices.numel() to be true, but got false.  ",
        "(Could this error message be improved?  If so, please report an enhancement request to PyTorch.) ", op,
        ": per_sample_weights must have one number for each of ", indices.numel(), " indices, got sizes ",
        per_sample_weights->sizes());
  }
  const int64_t bags = offsets.size(0) - (include_last_offset ? 1 : 0);
  const ScalarType index_dtype = indices.scalar_type() == offsets.scalar_type() ? indices.scalar_type() : kLong;
  // As PyTorch: a plain sum with unit strides does not say which bag an index is in; only `_embedding_bag` drops the
  // last offset from the sizes that a sum leaves zero.
  const bool plain_sum = mode == Sum && weight.scalar_type() != kDouble && padding_idx < 0 && weight.stride(1) == 1 &&
      (!is_given(per_sample_weights) || per_sample_weights->stride(0) == 1);
  const bool forward_only = op == std::string_view("_embedding_bag_forward_only");
  const int64_t counts = forward_only && mode == Sum ? offsets.size(0) : bags;
  const int64_t width = weight.size(1);
  const auto indices_of = [&](IntArrayRef sizes) { return TensorSpec::like(indices, sizes, index_dtype); };
  return {
      TensorSpec::like(weight, {bags, width}), indices_of({plain_sum ? 0 : indices.numel()}), indices_of({counts}),
      mode == Max ? indices_of({bags, width}) : indices_of({counts})};
}

/// The table's gradient: [num_weights, row].
TensorSpec embedding_bag_dense_backward(
    const char* op,
    const TensorBase& grad,
    const TensorBase& indices,
    const TensorBase& offset2bag,
    const TensorBase& bag_size,
    const TensorBase& maximum_indices,
    int64_t num_weights,
    bool,
    int64_t mode,
    const std::optional<Tensor>& per_sample_weights,
    int64_t) {
  TORCH_CHECK(
      grad.dim() == 2 && grad.is_floating_point(), op, ": grad must be a matrix of floating point numbers, got ",
      grad.toString(), " of sizes ", grad.sizes());
  check_index("indices", 2, indices);
  check_index("offset2bag", 3, offset2bag);
  check_index("bag_size", 4, bag_size);
  TORCH_CHECK(
      mode == Sum || mode == Mean || mode == Max, "`mode` must be sum, mean, or max. It is 0, 1 or 2, got ", mode);
  TORCH_CHECK(num_weights >= 0, op, ": num_weights must not be negative, got ", num_weights);
  TORCH_CHECK(
      indices.dim() == 1 && (mode == Max || offset2bag.sizes() == indices.sizes()), op,
      ": offset2bag must have the sizes of indices, got ", offset2bag.sizes(), " and ", indices.sizes());
  TORCH_CHECK(
      mode == Sum || (bag_size.dim() == 1 && bag_size.size(0) == grad.size(0)), op, ": bag_size must have ",
      grad.size(0), " elements, got sizes ", bag_size.sizes());
  if (mode == Max) {
    check_index("maximum_indices", 5, maximum_indices);
    TORCH_CHECK(
        maximum_indices.sizes() == grad.sizes(), op, ": maximum_indices must have the sizes of grad, got ",
        maximum_indices.sizes(), " and ", grad.sizes());
  }
  TORCH_CHECK(
      !is_given(per_sample_weights) ||
          (per_sample_weights->sizes() == indices.sizes() && per_sample_weights->scalar_type() == grad.scalar_type()),
      op, ": per_sample_weights must have the sizes of indices and the dtype of grad");
  return TensorSpec::like(grad, {num_weights, grad.size(1)});
}

/// One number for each index.
TensorSpec embedding_bag_per_sample_weights_backward(
    const char* op,
    const TensorBase& grad,
    const TensorBase& weight,
    const TensorBase& indices,
    const TensorBase& offsets,
    const TensorBase& offset2bag,
    int64_t mode,
    int64_t) {
  TORCH_CHECK(mode == Sum, "embedding_bag_backward: per_sample_weights only supported for mode='sum'");
  check_index("indices", 3, indices);
  check_index("offsets", 4, offsets);
  check_index("offset2bag", 5, offset2bag);
  TORCH_CHECK(
      grad.dim() == 2 && weight.dim() == 2 && grad.size(1) == weight.size(1) &&
          grad.scalar_type() == weight.scalar_type(),
      op, ": grad and weight must be matrices of one dtype and width, got ", grad.toString(), " of sizes ",
      grad.sizes(), " and ", weight.toString(), " of sizes ", weight.sizes());
  TORCH_CHECK(
      indices.dim() == 1 && offsets.dim() == 1 && (offset2bag.numel() == 0 || offset2bag.sizes() == indices.sizes()),
      op, ": indices and offsets must be vectors, and offset2bag empty or as long as indices; got ", indices.sizes(),
      ", ", offsets.sizes(), " and ", offset2bag.sizes());
  return TensorSpec::like(grad, indices.sizes());
}

} // namespace at::shape
