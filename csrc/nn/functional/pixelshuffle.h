// Pixel shuffling.
#pragma once

#include <csrc/nn/options/pixelshuffle.h>
#include <csrc/types.h>

namespace torch::nn::functional {

/// [..., C * r * r, H, W] to [..., C, H * r, W * r] (Shi et al., 2016). Throws if the channels are not divisible by r *
/// r.
TORCH_API Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& options);
/// The inverse: [..., C, H * r, W * r] to [..., C * r * r, H, W]. Throws if height or width is not divisible by r.
TORCH_API Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& options);

} // namespace torch::nn::functional
