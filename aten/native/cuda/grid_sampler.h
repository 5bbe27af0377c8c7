// Launches of sampling images and volumes at places given between -1 and 1.
#pragma once

#include <aten/native/cuda/image.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// The numbers of PyTorch's enumerations.
enum class SamplePadding : std::int32_t { Zeros, Border, Reflection };
enum class SampleMode : std::int32_t { Linear, Nearest, Cubic };

/// `result` has a pixel for each place of each image; place i of all has its coordinates, width first, at grid[i * dims].
struct GridSample {
  Image input, result;
  std::int32_t dims;
  SampleMode mode;
  SamplePadding padding;
  bool align_corners;
  c10::ScalarType dtype; // floating
  cudaStream_t stream;
};
void launch_grid_sample(const GridSample& p, const void* input, const void* grid, void* result);
/// grad_input, contiguous and in float (double for double), is added to. Gradients that are null are not wanted.
void launch_grid_sample_backward(
    const GridSample& p, const void* input, const void* grid, const void* grad, void* grad_input, void* grad_grid);

} // namespace at::native::cuda
