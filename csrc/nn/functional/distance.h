// Distances between vectors.
#pragma once

#include <csrc/nn/options/distance.h>
#include <csrc/types.h>

namespace torch::nn::functional {

TORCH_API Tensor
cosine_similarity(const Tensor& x1, const Tensor& x2, const CosineSimilarityFuncOptions& options = {});
TORCH_API Tensor
pairwise_distance(const Tensor& x1, const Tensor& x2, const PairwiseDistanceFuncOptions& options = {});
/// p-norm distances of all pairs of rows of `input` [N, M]: N * (N - 1) / 2 values, those of row 0 first.
TORCH_API Tensor pdist(const Tensor& input, double p = 2.0);

} // namespace torch::nn::functional
