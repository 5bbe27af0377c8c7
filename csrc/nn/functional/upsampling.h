// Interpolation.
#pragma once

#include <csrc/nn/options/upsampling.h>
#include <csrc/types.h>

namespace torch::nn::functional {

/// Resizes the dimensions of `input` [N, C, ...] that follow the second. Modes kNearest, kNearestExact and kArea take
/// one to three of them, kLinear one, kBilinear and kBicubic two, kTrilinear three.
///
/// Throws unless exactly one of `size` and `scale_factor` is given, with a value for each resized dimension, for
/// `align_corners` with the modes that do not interpolate, and for `antialias` with others than kBilinear and kBicubic.
TORCH_API Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options = {});

} // namespace torch::nn::functional
