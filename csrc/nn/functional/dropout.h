// The dropout family. Outside of training each returns its input.
#pragma once

#include <csrc/nn/options/dropout.h>
#include <csrc/types.h>

namespace torch::nn::functional {

/// Zeroes elements with probability p and scales the others by 1 / (1 - p) (Srivastava et al., 2014). Throws unless p
/// is in [0, 1], as the whole family does.
TORCH_API Tensor dropout(Tensor input, const DropoutFuncOptions& options = {});
/// Zeroes whole channels of [N, C, H, W] or [C, H, W] (Tompson et al., 2015).
TORCH_API Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options = {});
/// Zeroes whole channels of [N, C, D, H, W] or [C, D, H, W].
TORCH_API Tensor dropout3d(Tensor input, const Dropout3dFuncOptions& options = {});
/// Dropout that keeps mean and variance of SELU's outputs (Klambauer et al., 2017).
TORCH_API Tensor alpha_dropout(Tensor input, const AlphaDropoutFuncOptions& options = {});
/// alpha_dropout of whole channels.
TORCH_API Tensor feature_alpha_dropout(Tensor input, const FeatureAlphaDropoutFuncOptions& options = {});

} // namespace torch::nn::functional
