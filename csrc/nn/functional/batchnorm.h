// Batch normalization.
#pragma once

#include <csrc/nn/options/batchnorm.h>
#include <csrc/types.h>

namespace torch::nn::functional {

/// Normalizes `input` [N, C, ...] for each channel: in training by the batch's statistics, which also enter the running
/// ones if these are defined, otherwise by the running ones. A batch in training must have more than one value a channel.
TORCH_API Tensor batch_norm(
    const Tensor& input,
    const Tensor& running_mean,
    const Tensor& running_var,
    const BatchNormFuncOptions& options = {});

} // namespace torch::nn::functional
