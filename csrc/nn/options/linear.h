// Options of linear layers, Flatten and Unflatten.
#pragma once

#include <csrc/arg.h>
#include <csrc/types.h>

#include <cstdint>
#include <vector>

namespace torch::nn {

struct TORCH_API LinearOptions {
  LinearOptions(int64_t in_features, int64_t out_features);
  TORCH_ARG(int64_t, in_features);
  TORCH_ARG(int64_t, out_features);
  TORCH_ARG(bool, bias) = true;
};

/// Dimensions `start_dim` to `end_dim`, both included, become one.
struct TORCH_API FlattenOptions {
  TORCH_ARG(int64_t, start_dim) = 1;
  TORCH_ARG(int64_t, end_dim) = -1;
};

/// Dimension `dim` becomes dimensions of these `sizes`; one of them may be -1.
struct TORCH_API UnflattenOptions {
  UnflattenOptions(int64_t dim, std::vector<int64_t> sizes);
  TORCH_ARG(int64_t, dim);
  TORCH_ARG(std::vector<int64_t>, sizes);
};

struct TORCH_API BilinearOptions {
  BilinearOptions(int64_t in1_features, int64_t in2_features, int64_t out_features);
  TORCH_ARG(int64_t, in1_features);
  TORCH_ARG(int64_t, in2_features);
  TORCH_ARG(int64_t, out_features);
  TORCH_ARG(bool, bias) = true;
};

} // namespace torch::nn
