// Batch normalization.
#pragma once

#include <csrc/nn/options/batchnorm.h>
#include <csrc/types.h>

namespace torch::nn::functional {

/// (x - mean) / sqrt(var + eps) * weight + bias for each channel of `input` [N, C, ...] (Ioffe and Szegedy, 2015). In
/// training mean and variance are those of the batch, and `running_mean` and `running_var` [C], if defined, move
/// towards them by `momentum`; otherwise they are the running ones. `weight` and `bias` are [C] or undefined.
///
/// Throws if `input` has fewer than two dimensions, and in training if a channel has only one value.
TORCH_API Tensor batch_norm(
    const Tensor& input,
    const Tensor& running_mean,
    const Tensor& running_var,
    const BatchNormFuncOptions& options = {});

} // namespace torch::nn::functional
