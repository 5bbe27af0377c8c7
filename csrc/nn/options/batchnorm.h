// Options of batch normalization.
#pragma once

#include <csrc/arg.h>
#include <csrc/types.h>

#include <cstdint>
#include <optional>

namespace torch::nn {

/// `momentum` is the weight of the new batch in the running statistics; without a value they are plain averages.
struct TORCH_API BatchNormOptions {
  BatchNormOptions(int64_t num_features);
  TORCH_ARG(int64_t, num_features);
  TORCH_ARG(double, eps) = 1e-5;
  TORCH_ARG(std::optional<double>, momentum) = 0.1;
  TORCH_ARG(bool, affine) = true;
  TORCH_ARG(bool, track_running_stats) = true;
};

using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;
using BatchNorm3dOptions = BatchNormOptions;

namespace functional {

struct TORCH_API BatchNormFuncOptions {
  TORCH_ARG(Tensor, weight);
  TORCH_ARG(Tensor, bias);
  TORCH_ARG(bool, training) = false;
  TORCH_ARG(double, momentum) = 0.1;
  TORCH_ARG(double, eps) = 1e-5;
};

} // namespace functional
} // namespace torch::nn
