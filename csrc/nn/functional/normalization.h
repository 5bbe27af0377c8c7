// Normalization over features, groups and neighbours.
#pragma once

#include <csrc/nn/options/normalization.h>
#include <csrc/types.h>

namespace torch::nn::functional {

/// x / max(|x|_p, eps), the norm taken over `dim`. Throws if `dim` does not exist.
TORCH_API Tensor normalize(const Tensor& input, NormalizeFuncOptions options = {});
/// (x - mean) / sqrt(var + eps) * weight + bias over the last dimensions, whose sizes are `normalized_shape` (Ba et
/// al., 2016). `weight` and `bias` have these sizes or are undefined. Throws if `input` ends in other sizes.
TORCH_API Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options);
/// input / sqrt(mean(input^2) + eps) * weight over the last dimensions (Zhang and Sennrich, 2019), as PyTorch's Python
/// side has it. Throws if `input` does not end in `normalized_shape`.
TORCH_API Tensor rms_norm(const Tensor& input, const RMSNormFuncOptions& options);
/// x / (k + alpha * mean of x^2 over `size` neighbouring channels)^beta (Krizhevsky et al., 2012). Throws unless
/// `input` [N, C, ...] has three dimensions or more and `size` is positive.
TORCH_API Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& options);
/// layer_norm over groups of channels and all positions of `input` [N, C, ...] (Wu and He, 2018). `weight` and `bias`
/// are [C] or undefined. Throws unless C is divisible by `num_groups`.
TORCH_API Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options);

} // namespace torch::nn::functional
