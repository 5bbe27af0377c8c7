// Options of instance normalization.
#pragma once

#include <csrc/arg.h>
#include <csrc/types.h>

#include <cstdint>

namespace torch::nn {

/// Options of InstanceNorm1d, 2d and 3d: as BatchNormOptions, but by default without parameters and without running
/// statistics.
struct TORCH_API InstanceNormOptions {
  InstanceNormOptions(int64_t num_features);
  /// Channels C of the input.
  TORCH_ARG(int64_t, num_features);
  /// Added to the variance, so that the division is safe.
  TORCH_ARG(double, eps) = 1e-5;
  /// Weight of a new batch in the running statistics.
  TORCH_ARG(double, momentum) = 0.1;
  /// Whether there are a learned weight and bias for each channel.
  TORCH_ARG(bool, affine) = false;
  /// Whether there are running statistics, which are then taken outside of training.
  TORCH_ARG(bool, track_running_stats) = false;
};

using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;
using InstanceNorm3dOptions = InstanceNormOptions;

namespace functional {

/// Options of F::instance_norm.
struct TORCH_API InstanceNormFuncOptions {
  /// [C], moved if use_input_stats and taken otherwise; or undefined.
  TORCH_ARG(Tensor, running_mean);
  /// [C], as running_mean.
  TORCH_ARG(Tensor, running_var);
  /// [C], or 1 if undefined.
  TORCH_ARG(Tensor, weight);
  /// [C], or 0 if undefined.
  TORCH_ARG(Tensor, bias);
  /// Normalizes by the input's statistics; without it by the running ones, which must be given.
  TORCH_ARG(bool, use_input_stats) = true;
  /// Weight of a new batch in the running statistics.
  TORCH_ARG(double, momentum) = 0.1;
  /// Added to the variance, so that the division is safe.
  TORCH_ARG(double, eps) = 1e-5;
};

} // namespace functional
} // namespace torch::nn
