#include <csrc/func/vmap.h>

#include <aten/Functions.h>
#include <aten/functorch/batch_call.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/DimVector.h>
#include <c10/util/Exception.h>

namespace torch::func::detail {

VmapOptions vmap_options(
    BatchDims in_dims, BatchDims out_dims, std::string_view randomness, std::optional<int64_t> chunk_size) {
  TORCH_CHECK_VALUE(
      !chunk_size || *chunk_size > 0, "vmap: chunk_size should be None or greater than 0. (got ",
      chunk_size.value_or(0), ")");
  return {std::move(in_dims), std::move(out_dims), at::functorch::parse_randomness(randomness), chunk_size};
}

BatchedInputs::BatchedInputs(Leaves given, const capture::Shape& arguments, const BatchDims& in_dims)
    : leaves(std::move(given)), dims(in_dims.of_leaves(arguments, "in_dims", "inputs")) {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < leaves.values.size(); ++i) {
    const c10::IValue& leaf = leaves.values[i];
    std::optional<int64_t>& dim = dims[i];
    const bool is_tensor = leaf.isTensor() && leaf.toTensor().defined();
    if (dim && !is_tensor) {
      TORCH_CHECK_VALUE(
          in_dims.is_for_all() || leaf.isNone(), "vmap: Got in_dim=", *dim, " for ", leaves.paths[i],
          ", but the input is of type ", leaf.tagKind(), " which is not a Tensor. Set its in_dim to std::nullopt");
      dim.reset();
    }
    if (dim) {
      const at::Tensor& tensor = leaf.toTensor();
      TORCH_CHECK_VALUE(
          *dim >= -tensor.dim() && *dim < tensor.dim(), "vmap: Got in_dim=", *dim, " for ", leaves.paths[i],
          ", but that input is a Tensor of dimensionality ", tensor.dim(), " so expected in_dim to satisfy -",
          tensor.dim(), " <= in_dim < ", tensor.dim(), ".");
      dim = c10::maybe_wrap_dim(*dim, tensor.dim());
      sizes.push_back(tensor.size(*dim));
    }
  }
  TORCH_CHECK_VALUE(!sizes.empty(), "vmap: Expected at least one Tensor to vmap over");
  for (const int64_t size : sizes) {
    TORCH_CHECK_VALUE(
        size == sizes[0], "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes ",
        at::IntArrayRef(sizes), " for the mapped dimension");
  }
  batch_size = sizes[0];
}

BatchedInputs BatchedInputs::narrowed(int64_t first, int64_t count) const {
  BatchedInputs part = *this;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i]) {
      part.leaves.values[i] = leaves.values[i].toTensor().narrow(*dims[i], first, count);
    }
  }
  part.batch_size = count;
  return part;
}

Leaves BatchedInputs::inside(const at::functorch::VmapLevelPtr& level) const {
  Leaves samples = leaves;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i]) {
      samples.values[i] = at::functorch::makeBatched(leaves.values[i].toTensor(), *dims[i], level);
    }
  }
  return samples;
}

c10::IValue outside(
    const c10::IValue& leaf,
    const std::string& path,
    const at::functorch::VmapLevel& level,
    std::optional<int64_t> out_dim) {
  if (!leaf.isTensor()) {
    TORCH_CHECK_VALUE(
        leaf.isNone(), "vmap: the function must only return Tensors, got type ", leaf.tagKind(), " for ", path);
    return leaf;
  }
  const at::Tensor& tensor = leaf.toTensor();
  const at::functorch::BatchedValue sample = at::functorch::value_at(tensor, level);
  if (!out_dim) {
    TORCH_CHECK_VALUE(
        !sample.is_batched(), "vmap: the function cannot return ", path,
        ", which is another tensor for each sample, with out_dim=None (std::nullopt). Give its out_dim");
    return tensor;
  }
  const int64_t place = c10::maybe_wrap_dim(*out_dim, tensor.dim() + 1);
  const at::Tensor value = sample.is_batched() ? sample.value : sample.with_batch(level.batch_size);
  return value.movedim(sample.bdim.value_or(0), place);
}

c10::IValue joined(const std::vector<Leaves>& chunks, size_t leaf, std::optional<int64_t> out_dim) {
  const c10::IValue& first = chunks.front().values[leaf];
  if (!first.isTensor() || !out_dim) {
    return first;
  }
  std::vector<at::Tensor> parts;
  for (const Leaves& chunk : chunks) {
    parts.push_back(chunk.values[leaf].toTensor());
  }
  return at::cat(parts, *out_dim);
}

} // namespace torch::func::detail
