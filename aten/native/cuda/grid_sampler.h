// Launches of sampling images and volumes at points given between -1 and 1.
#pragma once

#include <aten/native/cuda/image.h>
#include <aten/native/support/grid_taps.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// `result` has a pixel for each point of each image; point i of all has its coordinates, width first, at grid[i *
/// dims].
struct GridSample {
  Image input, result;
  std::int32_t dims;
  SampleRule rule;
  c10::ScalarType dtype; // floating
  cudaStream_t stream;
  std::int64_t most = kMostPixels; // of one launch
};
void launch_grid_sample(const GridSample& p, const void* input, const void* grid, void* result);
/// grad_input, contiguous and in float (double for double), is added to. Gradients that are null are not wanted.
void launch_grid_sample_backward(
    const GridSample& p, const void* input, const void* grid, const void* grad, void* grad_input, void* grad_grid);

} // namespace at::native::cuda
