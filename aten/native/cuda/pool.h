// Launches of pooling: windows over images, reduced by their maximum or mean.
#pragma once

#include <aten/native/cuda/image.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// The windows along one dimension: at fixed distances, splitting it evenly, or (fractional) at distances by chance.
struct PoolDim {
  enum Kind : std::int32_t { Fixed, Adaptive, Fractional };

  Kind kind = Adaptive;
  std::int32_t in = 1, out = 1;
  std::int32_t kernel = 1, stride = 1, padding = 0, dilation = 1;

  /// A window covers first, first + dilation, ... below last; `extent` counts the padding too.
  struct Window {
    std::int32_t first, last;
    std::int64_t extent;
  };
  HOST_DEVICE Window window(std::int32_t o) const {
    if (kind == Adaptive) {
      const auto first = static_cast<std::int32_t>(std::int64_t{o} * in / out);
      const auto last = static_cast<std::int32_t>(1 + ((std::int64_t{o} + 1) * in - 1) / out);
      return {first, last, last - first};
    }
    std::int64_t first = std::int64_t{o} * stride - padding;
    std::int64_t last = first + std::int64_t{kernel - 1} * dilation + 1;
    last = last < std::int64_t{in} + padding ? last : std::int64_t{in} + padding;
    const std::int64_t extent = last - first;
    if (first < 0) {
      first += (-first + dilation - 1) / dilation * dilation;
    }
    last = last < in ? last : in;
    // A window in the padding as a whole is empty.
    first = first < last ? first : last;
    return {static_cast<std::int32_t>(first), static_cast<std::int32_t>(last), extent};
  }

  /// The first and the last window that may cover element i.
  struct Range {
    std::int32_t first, last;
  };
  HOST_DEVICE Range windows_over(std::int32_t i) const {
    std::int64_t first, last;
    if (kind == Adaptive) {
      first = std::int64_t{i} * out / in;
      last = ((std::int64_t{i} + 1) * out + in - 1) / in - 1;
    } else {
      const std::int64_t reach = std::int64_t{kernel - 1} * dilation, place = std::int64_t{i} + padding;
      first = place < reach ? 0 : (place - reach + stride - 1) / stride;
      last = place / stride;
    }
    return {static_cast<std::int32_t>(first), static_cast<std::int32_t>(last < out ? last : out - 1)};
  }
};

/// Both passes: `x` is what is pooled and `y` the result, or their gradients; `indices` has the number of each maximum
/// in its plane.
struct MaxPool {
  PoolDim dim[3];
  Image x, y, places;
  c10::ScalarType dtype;
  /// Fractional windows: [batch, sample_channels, sample_dims] contiguous numbers of the dtype, else null.
  const void* samples = nullptr;
  std::int32_t sample_channels = 0, sample_dims = 0;
  cudaStream_t stream;
  std::int64_t most = kMostPixels; // of one launch
};
/// Integers and floating dtypes. NaN is the greatest, of several the last; of equal elements the first counts.
void launch_max_pool(const MaxPool& p, const void* x, void* y, std::int64_t* places);
void launch_max_pool_backward(const MaxPool& p, const void* dy, const std::int64_t* places, void* dx);

struct AvgPool {
  PoolDim dim[3];
  Image x, y;
  c10::ScalarType dtype;
  bool count_padding = false;
  std::int64_t divisor = 0; // for all windows, or 0
  cudaStream_t stream;
  std::int64_t most = kMostPixels; // of one launch
};
/// int64 and floating dtypes.
void launch_avg_pool(const AvgPool& p, const void* x, void* y);
void launch_avg_pool_backward(const AvgPool& p, const void* dy, void* dx);

} // namespace at::native::cuda
