// Shape functions of embedding_bag and its gradients. Values of indices and offsets are checked by the kernels.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>

#include <array>
#include <optional>

namespace at::shape {

/// The reduced rows, the bag of each index, the sizes of bags, and the rows that maxima come from.
std::array<TensorSpec, 4> embedding_bag(
    const char* op, const TensorBase& weight, const TensorBase& indices, const TensorBase& offsets, bool scale_grad_by_freq,
    int64_t mode, bool sparse, const std::optional<Tensor>& per_sample_weights, bool include_last_offset, int64_t padding_idx);

/// The table's gradient: [num_weights, row].
TensorSpec embedding_bag_dense_backward(
    const char* op, const TensorBase& grad, const TensorBase& indices, const TensorBase& offset2bag, const TensorBase& bag_size,
    const TensorBase& maximum_indices, int64_t num_weights, bool scale_grad_by_freq, int64_t mode,
    const std::optional<Tensor>& per_sample_weights, int64_t padding_idx);

/// One number for each index.
TensorSpec embedding_bag_per_sample_weights_backward(
    const char* op, const TensorBase& grad, const TensorBase& weight, const TensorBase& indices, const TensorBase& offsets,
    const TensorBase& offset2bag, int64_t mode, int64_t padding_idx);

} // namespace at::shape
