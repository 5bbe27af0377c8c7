// Linear maps.
#pragma once

#include <csrc/types.h>

namespace torch::nn::functional {

/// input weight^T + bias, where `weight` is [features out, features in].
TORCH_API Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {});
/// y_k = x1^T weight_k x2 + bias_k, where `weight` is [features out, features in 1, features in 2].
TORCH_API Tensor
bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias = Tensor());

} // namespace torch::nn::functional
