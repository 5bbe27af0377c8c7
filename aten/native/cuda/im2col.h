// Launches of kernels that slide windows over images: windows gathered into columns (im2col), columns summed back into
// images (col2im), and depthwise convolution.
#pragma once

#include <aten/native/cuda/image.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace at::native::cuda {

/// One dimension of sliding windows.
struct SlidingDim {
  std::int32_t kernel = 1, stride = 1, padding = 0, dilation = 1;
  std::int32_t out = 1; // windows

  HOST_DEVICE std::int32_t element(std::int32_t window, std::int32_t k) const {
    return window * stride - padding + k * dilation;
  }
  /// The window whose element k is element i of the image, or -1.
  HOST_DEVICE std::int32_t window(std::int32_t i, std::int32_t k) const {
    const std::int32_t place = i + padding - k * dilation;
    return place >= 0 && place % stride == 0 && place / stride < out ? place / stride : -1;
  }
};

/// Column l of image n has row (c * kernel elements + k) at n * of_batch + row * of_row + l: element k of window l, or
/// zero where that lies in the padding.
struct Columns {
  SlidingDim dim[3];
  Image image;
  std::int64_t of_batch, of_row;
  cudaStream_t stream;
};
/// Elements of `size` bytes.
void launch_gather_columns(const Columns& p, std::size_t size, const void* image, void* columns);
/// image = the sum of all columns' elements. Floating or complex.
void launch_sum_columns(const Columns& p, c10::ScalarType dtype, const void* columns, void* image);

/// Each channel of `image` by itself gives `multiplier` channels of `result`, whose weights stand one after the other.
struct Depthwise {
  SlidingDim dim[3];
  Image image, result;
  std::int32_t multiplier;
  c10::ScalarType dtype; // floating
  cudaStream_t stream;
  std::int64_t most = kMostPixels; // elements of a launch; tests ask for less
};
void launch_depthwise(const Depthwise& p, const void* image, const void* weight, void* result);
void launch_depthwise_backward_image(const Depthwise& p, const void* result, const void* weight, void* image);
void launch_depthwise_backward_weight(const Depthwise& p, const void* image, const void* result, void* weight);

} // namespace at::native::cuda
