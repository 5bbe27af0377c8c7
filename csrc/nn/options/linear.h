// Options of linear layers, Flatten and Unflatten.
#pragma once

#include <csrc/arg.h>
#include <csrc/types.h>

#include <cstdint>
#include <vector>

namespace torch::nn {

/// Options of Linear.
struct TORCH_API LinearOptions {
  LinearOptions(int64_t in_features, int64_t out_features);
  /// Size of the input's last dimension.
  TORCH_ARG(int64_t, in_features);
  /// Size of the result's last dimension.
  TORCH_ARG(int64_t, out_features);
  /// Whether there is a learned bias.
  TORCH_ARG(bool, bias) = true;
};

/// Options of Flatten: dimensions start_dim to end_dim become one.
struct TORCH_API FlattenOptions {
  /// The first of them. The default keeps the batch.
  TORCH_ARG(int64_t, start_dim) = 1;
  /// The last of them, counted from the end when negative.
  TORCH_ARG(int64_t, end_dim) = -1;
};

/// Options of Unflatten: one dimension becomes several. Throws when used if the product of sizes differs.
struct TORCH_API UnflattenOptions {
  UnflattenOptions(int64_t dim, std::vector<int64_t> sizes);
  /// The dimension.
  TORCH_ARG(int64_t, dim);
  /// What it becomes; one may be -1.
  TORCH_ARG(std::vector<int64_t>, sizes);
};

/// Options of Bilinear.
struct TORCH_API BilinearOptions {
  BilinearOptions(int64_t in1_features, int64_t in2_features, int64_t out_features);
  /// Size of the first input's last dimension. Must be positive.
  TORCH_ARG(int64_t, in1_features);
  /// Size of the second input's last dimension.
  TORCH_ARG(int64_t, in2_features);
  /// Size of the result's last dimension.
  TORCH_ARG(int64_t, out_features);
  /// Whether there is a learned bias.
  TORCH_ARG(bool, bias) = true;
};

} // namespace torch::nn
