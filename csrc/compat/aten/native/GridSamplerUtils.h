// The modes of grid_sampler as numbers that kernels of one's own take, and what its operands must hold.
#pragma once

#include <aten/core/TensorBase.h>
#include <c10/util/DimVector.h>
#include <c10/util/Exception.h>
#include <c10/util/Optional.h>

namespace at::native {

namespace detail {
/// The numbers of the operator's `interpolation_mode` and `padding_mode`.
enum class GridSamplerInterpolation { Bilinear, Nearest, Bicubic };
enum class GridSamplerPadding { Zeros, Border, Reflection };
} // namespace detail

using detail::GridSamplerInterpolation;
using detail::GridSamplerPadding;

/// One device, one batch, a coordinate for each dimension of the image, no empty image.
inline void check_grid_sampler_common(const TensorBase& input, const TensorBase& grid) {
  TORCH_CHECK(input.defined() && grid.defined(), "grid_sampler(): expected input and grid to not be undefined");
  TORCH_CHECK(
      input.device() == grid.device(), "grid_sampler(): expected input and grid to be on same device, but input is on ",
      input.device(), " and grid is on ", grid.device());
  TORCH_CHECK(
      input.layout() == c10::kStrided && grid.layout() == c10::kStrided,
      "grid_sampler(): expected input and grid to have torch.strided layout, but input has ", input.layout(),
      " and grid has ", grid.layout());
  TORCH_CHECK(
      input.size(0) == grid.size(0),
      "grid_sampler(): expected grid and input to have same batch size, but got input with sizes ", input.sizes(),
      " and grid with sizes ", grid.sizes());
  TORCH_CHECK(
      grid.size(-1) == input.dim() - 2, "grid_sampler(): expected grid to have size ", input.dim() - 2,
      " in last dimension, but got grid with sizes ", grid.sizes());
  for (int64_t d = 2; d < input.dim(); ++d) {
    TORCH_CHECK(
        input.size(d) > 0, "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes ",
        input.sizes(), " with dimension ", d, " being empty");
  }
}

inline void check_grid_sampler_2d(const TensorBase& input, const TensorBase& grid) {
  TORCH_CHECK(
      input.dim() == 4 && grid.dim() == 4,
      "grid_sampler(): expected 4D input and grid with same number of dimensions, but got input with sizes ",
      input.sizes(), " and grid with sizes ", grid.sizes());
}

/// Volumes have no cubic interpolation.
inline void check_grid_sampler_3d(const TensorBase& input, const TensorBase& grid, int64_t interpolation_mode = 0) {
  TORCH_CHECK(
      input.dim() == 5 && grid.dim() == 5,
      "grid_sampler(): expected 5D input and grid with same number of dimensions, but got input with sizes ",
      input.sizes(), " and grid with sizes ", grid.sizes());
  TORCH_CHECK(
      static_cast<GridSamplerInterpolation>(interpolation_mode) != GridSamplerInterpolation::Bicubic,
      "grid_sampler(): bicubic interpolation only supports 4D input");
}

} // namespace at::native
