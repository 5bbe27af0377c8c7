// Normalization over features, groups and neighbours.
#pragma once

#include <csrc/nn/options/normalization.h>
#include <csrc/types.h>

namespace torch::nn::functional {

TORCH_API Tensor normalize(const Tensor& input, NormalizeFuncOptions options = {});
TORCH_API Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options);
/// input / sqrt(mean(input^2) + eps) * weight (Zhang and Sennrich, 2019), as PyTorch's Python side has it.
TORCH_API Tensor rms_norm(const Tensor& input, const RMSNormFuncOptions& options);
/// Normalizes over neighbouring channels (Krizhevsky et al., 2012). `input` is [N, C, ...] with 3 dimensions or more.
TORCH_API Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& options);
TORCH_API Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options);

} // namespace torch::nn::functional
