// Instance normalization.
#pragma once

#include <csrc/nn/options/instancenorm.h>
#include <csrc/types.h>

namespace torch::nn::functional {

/// Normalizes each channel of each sample of `input` [N, C, ...].
TORCH_API Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options = {});

} // namespace torch::nn::functional
