// Sampling of images.
#pragma once

#include <csrc/nn/options/vision.h>
#include <csrc/types.h>

namespace torch::nn::functional {

/// Points [N, H, W, 2] or [N, D, H, W, 3] to which affine maps `theta`, [N, 2, 3] or [N, 3, 4], send the elements of an
/// image of `size` [N, C, H, W] or [N, C, D, H, W]. Coordinates go from -1 to 1, x first (Jaderberg et al., 2015).
/// Throws if `theta` is not floating point or does not fit `size`, and for sizes that are not positive.
TORCH_API Tensor affine_grid(const Tensor& theta, const IntArrayRef& size, bool align_corners = false);

/// `input` [N, C, H, W] or [N, C, D, H, W] interpolated at the points of `grid` [N, ..., 2 or 3], which give the
/// result's sizes. Throws if batch, dtype, device or number of dimensions do not fit.
TORCH_API Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& options = {});

} // namespace torch::nn::functional
