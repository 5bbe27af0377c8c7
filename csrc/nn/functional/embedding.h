// Embeddings: rows of a table by index.
#pragma once

#include <csrc/nn/options/embedding.h>
#include <csrc/types.h>

namespace torch::nn::functional {

/// A 1 at each index along a new last dimension of `num_classes`, of the largest index + 1 when that is -1.
TORCH_API Tensor one_hot(const Tensor& tensor, int64_t num_classes = -1);

/// The rows of `weight` [rows, features] that `input` names. With `max_norm`, `weight` itself is changed.
TORCH_API Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options = {});

/// Sum, mean or maximum of the rows of each bag: a row of a 2-D `input`, or what lies between two `offsets` in a 1-D one.
TORCH_API Tensor embedding_bag(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& options = {});

} // namespace torch::nn::functional
