// Embeddings: rows of a table by index.
#pragma once

#include <csrc/nn/options/embedding.h>
#include <csrc/types.h>

namespace torch::nn::functional {

/// A 1 at each index along a new last dimension of `num_classes`, of the largest index + 1 when that is -1; all else is
/// 0. Throws unless `tensor` holds non-negative integers below `num_classes`.
TORCH_API Tensor one_hot(const Tensor& tensor, int64_t num_classes = -1);

/// The rows of `weight` [rows, features] that `input`, of any shape, names: the result is [input's sizes, features].
/// With `max_norm` the rows that are looked up are changed in `weight` itself. Throws for an index outside the table
/// and for a `padding_idx` outside of [-rows, rows).
TORCH_API Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options = {});

/// Sum, mean or maximum of the rows of each bag without storing the rows: a bag is a row of a 2-D `input`, or in a 1-D
/// one what lies between two `offsets`. The result is [bags, features].
///
/// Throws unless `input` is 1-D with `offsets` or 2-D without, if `per_sample_weights` has other sizes than `input` or
/// comes with a mode other than kSum, and if kMax is combined with `scale_grad_by_freq` or `sparse`.
TORCH_API Tensor embedding_bag(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& options = {});

} // namespace torch::nn::functional
