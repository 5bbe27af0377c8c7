// Instance normalization.
#pragma once

#include <csrc/nn/options/instancenorm.h>
#include <csrc/types.h>

namespace torch::nn::functional {

/// Normalizes each channel of each sample of `input` [N, C, ...] by its own mean and variance (Ulyanov et al., 2016),
/// or without `use_input_stats` by the running ones. `weight` and `bias` are [C] or undefined. Throws if the running
/// statistics are missing where they are needed.
TORCH_API Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options = {});

} // namespace torch::nn::functional
