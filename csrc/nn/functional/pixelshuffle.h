// Pixel shuffling.
#pragma once

#include <csrc/nn/options/pixelshuffle.h>
#include <csrc/types.h>

namespace torch::nn::functional {

/// [..., C * r * r, H, W] to [..., C, H * r, W * r] (Shi et al., 2016), and back.
TORCH_API Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& options);
TORCH_API Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& options);

} // namespace torch::nn::functional
