// Options of instance normalization.
#pragma once

#include <csrc/arg.h>
#include <csrc/types.h>

#include <cstdint>

namespace torch::nn {

/// As BatchNormOptions, but by default without parameters and without running statistics.
struct TORCH_API InstanceNormOptions {
  InstanceNormOptions(int64_t num_features);
  TORCH_ARG(int64_t, num_features);
  TORCH_ARG(double, eps) = 1e-5;
  TORCH_ARG(double, momentum) = 0.1;
  TORCH_ARG(bool, affine) = false;
  TORCH_ARG(bool, track_running_stats) = false;
};

using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;
using InstanceNorm3dOptions = InstanceNormOptions;

namespace functional {

/// Without `use_input_stats` the running statistics normalize.
struct TORCH_API InstanceNormFuncOptions {
  TORCH_ARG(Tensor, running_mean);
  TORCH_ARG(Tensor, running_var);
  TORCH_ARG(Tensor, weight);
  TORCH_ARG(Tensor, bias);
  TORCH_ARG(bool, use_input_stats) = true;
  TORCH_ARG(double, momentum) = 0.1;
  TORCH_ARG(double, eps) = 1e-5;
};

} // namespace functional
} // namespace torch::nn
