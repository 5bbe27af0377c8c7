// Patches of images.
#pragma once

#include <csrc/nn/options/fold.h>
#include <csrc/types.h>

namespace torch::nn::functional {

/// Adds up patches, the columns of `input` [N, C * kernel elements, patches] or without N, to images [N, C, H, W].
TORCH_API Tensor fold(const Tensor& input, const FoldFuncOptions& options);
/// The patches of `input` [N, C, H, W] as columns [N, C * kernel elements, patches].
TORCH_API Tensor unfold(const Tensor& input, const UnfoldFuncOptions& options);

} // namespace torch::nn::functional
