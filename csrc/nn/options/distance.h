// Options of distances.
#pragma once

#include <csrc/arg.h>
#include <csrc/types.h>

#include <cstdint>

namespace torch::nn {

/// Options of CosineSimilarity and F::cosine_similarity.
struct TORCH_API CosineSimilarityOptions {
  /// The dimension of the vectors.
  TORCH_ARG(int64_t, dim) = 1;
  /// The least norm that is divided by.
  TORCH_ARG(double, eps) = 1e-8;
};

/// Options of PairwiseDistance and F::pairwise_distance.
struct TORCH_API PairwiseDistanceOptions {
  /// The p of the norm.
  TORCH_ARG(double, p) = 2.0;
  /// Added to each difference, so that the gradient of equal vectors is finite.
  TORCH_ARG(double, eps) = 1e-6;
  /// Keeps the last dimension, of size 1.
  TORCH_ARG(bool, keepdim) = false;
};

namespace functional {

using CosineSimilarityFuncOptions = CosineSimilarityOptions;
using PairwiseDistanceFuncOptions = PairwiseDistanceOptions;

} // namespace functional
} // namespace torch::nn
