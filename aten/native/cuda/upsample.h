// Launches of resizing: along each dimension an element of the result is a weighted sum of a few elements, its taps.
#pragma once

#include <aten/native/cuda/image.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// Smooth filters are widened when the result has fewer elements.
enum class ResizeMode : std::int32_t { Nearest, NearestExact, Linear, Cubic, LinearSmooth, CubicSmooth, LanczosSmooth };

struct ResizeDim {
  ResizeMode mode = ResizeMode::Nearest;
  std::int32_t in = 1, out = 1;
  bool align_corners = false;
  double step = 1; // distance of the result's elements, in elements of the input
};

/// `small` is what is resized and `result` what comes of it, or their gradients.
struct Resize {
  ResizeDim dim[3];
  Image small, result;
  c10::ScalarType dtype;
  cudaStream_t stream;
  std::int64_t most = kMostPixels; // of one launch
};
/// Bytes and floating dtypes.
void launch_resize(const Resize& p, const void* x, void* y);
/// Floating dtypes.
void launch_resize_backward(const Resize& p, const void* dy, void* dx);

} // namespace at::native::cuda
