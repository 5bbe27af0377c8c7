// Options of distances.
#pragma once

#include <csrc/arg.h>
#include <csrc/types.h>

#include <cstdint>

namespace torch::nn {

/// `eps` is the least product of norms that is divided by.
struct TORCH_API CosineSimilarityOptions {
  TORCH_ARG(int64_t, dim) = 1;
  TORCH_ARG(double, eps) = 1e-8;
};

/// The p-norm of `x1 - x2 + eps` over the last dimension.
struct TORCH_API PairwiseDistanceOptions {
  TORCH_ARG(double, p) = 2.0;
  TORCH_ARG(double, eps) = 1e-6;
  TORCH_ARG(bool, keepdim) = false;
};

namespace functional {

using CosineSimilarityFuncOptions = CosineSimilarityOptions;
using PairwiseDistanceFuncOptions = PairwiseDistanceOptions;

} // namespace functional
} // namespace torch::nn
