// Batches of images as kernels see them: any strides, and a number for each pixel.
#pragma once

#include <aten/native/cuda/fast_division.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/FunctionRef.h>

#include <cstdint>

namespace at {
class TensorBase;
}

namespace at::native::cuda {

/// Tensors [batch,] channels, [depth,] [height,] width: dimensions that are not there have size 1. Strides count
/// elements.
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

/// Numbers the elements of an image, or of a box of it, in the order of its memory, channels first or last.
struct Pixels {
  struct Pixel {
    int n, c, at[3];
  };

  std::uint32_t count = 0;
  bool channels_last = false;
  FastDivider channels, depth, height, width;
  int first[3] = {0, 0, 0}; // where the box begins: depth, height, width

  HOST_DEVICE Pixel operator()(std::uint32_t i) const {
    Pixel p;
    if (channels_last) {
      i = take(i, channels, p.c);
    }
    i = take(i, width, p.at[2]);
    i = take(i, height, p.at[1]);
    i = take(i, depth, p.at[0]);
    for (int d = 0; d < 3; ++d) {
      p.at[d] += first[d];
    }
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

/// `t` as images of `dims` spatial dimensions, with a batch or without. Throws when a dimension has more than 2^31 - 1
/// elements.
Image image_of(const char* op, const TensorBase& t, int dims);
/// All elements of an image that has some, up to 2^31 - 1.
Pixels pixels_of(const Image& image);

/// A box that one launch reaches. It numbers images and channels from its own first ones on.
struct ImagePart {
  Pixels pixels;
  int n = 0, c = 0;

  /// Where the part's images begin in `data` of `image`, which has the same images and channels as that which was cut.
  template <class T>
  T* of(T* data, const Image& image) const {
    return data + image.plane(n, c);
  }
};
inline constexpr std::int64_t kMostPixels = INT32_MAX;
/// use(part) for the parts of an image that has elements, one after the other, each with up to `most` of them.
void each_part(const Image& image, std::int64_t most, c10::function_ref<void(const ImagePart&)> use);

/// Element `d` of an argument that gives one value for each dimension or one for all.
inline std::int64_t at_or_only(c10::IntArrayRef values, int d) {
  return values.size() == 1 ? values[0] : values[d];
}

} // namespace at::native::cuda
