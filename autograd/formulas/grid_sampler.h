// Derivatives of sampling at given places.
#pragma once

#include <aten/core/Tensor.h>

#include <array>
#include <cstdint>
#include <tuple>

namespace torch::autograd::formulas {

/// Gradients of grid_sampler_2d and grid_sampler_3d for (input, grid): by their kernels, and by operators where these gradients
/// are to be differentiated again.
std::tuple<at::Tensor, at::Tensor> grid_sampler_gradients(
    const at::Tensor& grad,
    const at::Tensor& input,
    const at::Tensor& grid,
    int64_t interpolation_mode,
    int64_t padding_mode,
    bool align_corners,
    std::array<bool, 2> mask);

} // namespace torch::autograd::formulas
