// Convolutions. Inputs are [N, C, ...] or, without a batch, [C, ...].
#pragma once

#include <csrc/nn/options/conv.h>
#include <csrc/types.h>

namespace torch::nn::functional {

/// `weight` is [channels out, channels in / groups, kernel...].
TORCH_API Tensor conv1d(const Tensor& input, const Tensor& weight, const Conv1dFuncOptions& options = {});
TORCH_API Tensor conv2d(const Tensor& input, const Tensor& weight, const Conv2dFuncOptions& options = {});
TORCH_API Tensor conv3d(const Tensor& input, const Tensor& weight, const Conv3dFuncOptions& options = {});

/// `weight` is [channels in, channels out / groups, kernel...].
TORCH_API Tensor
conv_transpose1d(const Tensor& input, const Tensor& weight, const ConvTranspose1dFuncOptions& options = {});
TORCH_API Tensor
conv_transpose2d(const Tensor& input, const Tensor& weight, const ConvTranspose2dFuncOptions& options = {});
TORCH_API Tensor
conv_transpose3d(const Tensor& input, const Tensor& weight, const ConvTranspose3dFuncOptions& options = {});

} // namespace torch::nn::functional
