// Patches of images.
#pragma once

#include <csrc/nn/options/fold.h>
#include <csrc/types.h>

namespace torch::nn::functional {

/// Adds up overlapping patches, the columns of `input` [N, C * kernel elements, patches] or without N, to images
/// [N, C, output_size]. The inverse of unfold up to a factor: each element is counted once for each patch that has it.
/// Throws if the number of patches is not what the sizes give.
TORCH_API Tensor fold(const Tensor& input, const FoldFuncOptions& options);
/// The patches of `input` [N, C, H, W] or [C, H, W] as columns [N, C * kernel elements, patches]. Throws if the padded
/// image is smaller than the kernel.
TORCH_API Tensor unfold(const Tensor& input, const UnfoldFuncOptions& options);

} // namespace torch::nn::functional
