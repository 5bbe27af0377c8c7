// Batches of images as kernels see them: any strides, and a number for each pixel.
#pragma once

#include <aten/native/cuda/fast_division.h>
#include <c10/util/ArrayRef.h>

#include <cstdint>

namespace at {
class TensorBase;
}

namespace at::native::cuda {

/// Tensors [batch,] channels, [depth,] [height,] width: dimensions that are not there have size 1. Strides count elements.
struct Image {
  std::int32_t batch = 1, channels = 1;
  std::int32_t size[3] = {1, 1, 1}; // depth, height, width
  std::int64_t of_batch = 0, of_channel = 0;
  std::int64_t of[3] = {0, 0, 0};

  HOST_DEVICE std::int64_t plane(int n, int c) const {
    return n * of_batch + c * of_channel;
  }
  HOST_DEVICE std::int64_t inside(int d, int h, int w) const {
    return d * of[0] + h * of[1] + w * of[2];
  }
};

/// Numbers the elements of an image in the order of its memory, channels first or last.
struct Pixels {
  struct Pixel {
    int n, c, at[3];
  };

  std::uint32_t count = 0;
  bool channels_last = false;
  FastDivider channels, depth, height, width;

  HOST_DEVICE Pixel operator()(std::uint32_t i) const {
    Pixel p;
    if (channels_last) {
      i = take(i, channels, p.c);
    }
    i = take(i, width, p.at[2]);
    i = take(i, height, p.at[1]);
    i = take(i, depth, p.at[0]);
    if (!channels_last) {
      i = take(i, channels, p.c);
    }
    p.n = static_cast<int>(i);
    return p;
  }

 private:
  HOST_DEVICE static std::uint32_t take(std::uint32_t i, const FastDivider& size, int& rest) {
    const std::uint32_t quotient = size.divide(i);
    rest = static_cast<int>(i - quotient * size.divisor);
    return quotient;
  }
};

/// `t` as images of `dims` spatial dimensions, with a batch or without. Throws when a number in it is beyond 31 bits.
Image image_of(const char* op, const TensorBase& t, int dims);
/// All elements of an image that has some.
Pixels pixels_of(const Image& image);

/// Element `d` of an argument that gives one value for each dimension or one for all.
inline std::int64_t at_or_only(c10::IntArrayRef values, int d) {
  return values.size() == 1 ? values[0] : values[d];
}

} // namespace at::native::cuda
