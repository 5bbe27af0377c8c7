// Convolutions. Inputs are [N, C, ...] or, without a batch, [C, ...].
#pragma once

#include <csrc/nn/options/conv.h>
#include <csrc/types.h>

namespace torch::nn::functional {

/// Cross-correlation of `input` [N, C, L] or [C, L] with `weight` [channels out, C / groups, kernel]. The result has
/// floor((L + 2 * padding - dilation * (kernel - 1) - 1) / stride) + 1 positions.
///
/// Throws if the channels do not fit the weight or are not divisible by `groups`, if the padded input is smaller than
/// the kernel, and for kSame with a stride other than 1.
TORCH_API Tensor conv1d(const Tensor& input, const Tensor& weight, const Conv1dFuncOptions& options = {});
/// As conv1d for `input` [N, C, H, W] or [C, H, W] and `weight` [channels out, C / groups, kernel height, width].
TORCH_API Tensor conv2d(const Tensor& input, const Tensor& weight, const Conv2dFuncOptions& options = {});
/// As conv1d for `input` [N, C, D, H, W] or [C, D, H, W] and `weight` [channels out, C / groups, kernel depth, height,
/// width].
TORCH_API Tensor conv3d(const Tensor& input, const Tensor& weight, const Conv3dFuncOptions& options = {});

/// The gradient of conv1d with respect to its input, as an operator of its own (Zeiler et al., 2010): `input` is
/// [N, C, L] or [C, L], `weight` [C, channels out / groups, kernel]. The result has (L - 1) * stride - 2 * padding +
/// dilation * (kernel - 1) + output_padding + 1 positions.
///
/// Throws if the channels do not fit the weight, and if `output_padding` is neither smaller than the stride nor than
/// the dilation.
TORCH_API Tensor
conv_transpose1d(const Tensor& input, const Tensor& weight, const ConvTranspose1dFuncOptions& options = {});
/// As conv_transpose1d for `input` [N, C, H, W] or [C, H, W] and `weight`
/// [C, channels out / groups, kernel height, width].
TORCH_API Tensor
conv_transpose2d(const Tensor& input, const Tensor& weight, const ConvTranspose2dFuncOptions& options = {});
/// As conv_transpose1d for `input` [N, C, D, H, W] or [C, D, H, W] and `weight` [C, channels out / groups, kernel
/// depth, height, width].
TORCH_API Tensor
conv_transpose3d(const Tensor& input, const Tensor& weight, const ConvTranspose3dFuncOptions& options = {});

} // namespace torch::nn::functional
