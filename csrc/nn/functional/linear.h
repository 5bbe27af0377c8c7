// Linear maps.
#pragma once

#include <csrc/types.h>

namespace torch::nn::functional {

/// input weight^T + bias: `input` [..., features in], `weight` [features out, features in] and `bias` [features out]
/// give [..., features out]. Throws if the features do not fit.
TORCH_API Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {});
/// y_k = x1^T weight_k x2 + bias_k: inputs [..., features in 1] and [..., features in 2] with `weight`
/// [features out, features in 1, features in 2] give [..., features out]. Throws if the features or the other
/// dimensions do not fit.
TORCH_API Tensor
bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias = Tensor());

} // namespace torch::nn::functional
