// Distances between vectors.
#pragma once

#include <csrc/nn/options/distance.h>
#include <csrc/types.h>

namespace torch::nn::functional {

/// x1 . x2 / (|x1| |x2|) over `dim`, each norm replaced by `eps` where it is smaller. The inputs are broadcast; the
/// result lacks `dim`. Throws for integers.
TORCH_API Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, const CosineSimilarityFuncOptions& options = {});
/// The `p`-norm of x1 - x2 + eps over the last dimension. Inputs [N, D] and [N, D] give [N], or [N, 1] with `keepdim`;
/// they are broadcast.
TORCH_API Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, const PairwiseDistanceFuncOptions& options = {});
/// `p`-norm distances between all pairs of rows of `input` [N, M]: N * (N - 1) / 2 values, those of row 0 first. Throws
/// unless `input` has two dimensions, and if p is negative.
TORCH_API Tensor pdist(const Tensor& input, double p = 2.0);

} // namespace torch::nn::functional
