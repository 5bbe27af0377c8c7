// Options of batch normalization.
#pragma once

#include <csrc/arg.h>
#include <csrc/types.h>

#include <cstdint>
#include <optional>

namespace torch::nn {

/// Options of BatchNorm1d, 2d and 3d.
struct TORCH_API BatchNormOptions {
  BatchNormOptions(int64_t num_features);
  /// Channels C of the input.
  TORCH_ARG(int64_t, num_features);
  /// Added to the variance, so that the division is safe.
  TORCH_ARG(double, eps) = 1e-5;
  /// Weight of a new batch in the running statistics; without a value they are plain averages.
  TORCH_ARG(std::optional<double>, momentum) = 0.1;
  /// Whether there are a learned weight and bias for each channel.
  TORCH_ARG(bool, affine) = true;
  /// Whether there are running statistics. Without them the batch's are taken outside of training too.
  TORCH_ARG(bool, track_running_stats) = true;
};

using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;
using BatchNorm3dOptions = BatchNormOptions;

namespace functional {

/// Options of F::batch_norm.
struct TORCH_API BatchNormFuncOptions {
  /// [C], or 1 if undefined.
  TORCH_ARG(Tensor, weight);
  /// [C], or 0 if undefined.
  TORCH_ARG(Tensor, bias);
  /// Takes the batch's statistics and moves the running ones.
  TORCH_ARG(bool, training) = false;
  /// Weight of a new batch in the running statistics.
  TORCH_ARG(double, momentum) = 0.1;
  /// Added to the variance, so that the division is safe.
  TORCH_ARG(double, eps) = 1e-5;
};

} // namespace functional
} // namespace torch::nn
