// Sampling of images.
#pragma once

#include <csrc/nn/options/vision.h>
#include <csrc/types.h>

namespace torch::nn::functional {

/// Points [N, H, W, 2] or [N, D, H, W, 3] where affine maps `theta`, [N, 2, 3] or [N, 3, 4], send the elements of an
/// image of `size` [N, C, H, W] or [N, C, D, H, W]. Coordinates go from -1 to 1, x first.
TORCH_API Tensor affine_grid(const Tensor& theta, const IntArrayRef& size, bool align_corners = false);

/// `input` [N, C, ...] at the points of `grid` [N, ..., dimensions].
TORCH_API Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& options = {});

} // namespace torch::nn::functional
