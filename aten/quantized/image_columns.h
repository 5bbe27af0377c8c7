#pragma once
// Convolutions of bytes as products: the bytes below each output, as rows of a matrix.

#include <aten/core/Tensor.h>

#include <cstdint>

namespace at::quantized {

/// One dimension of a convolution.
struct ImageAxis {
  int64_t in, out, kernel, stride, padding, dilation;

  /// The index in the input that meets output `o` at position `k` of the kernel, -1 if there is none. A transposed
  /// convolution is one over an input with gaps of stride - 1 elements.
  int64_t source(int64_t o, int64_t k, bool transposed) const {
    const int64_t i = transposed ? o + padding - k * dilation : o * stride - padding + k * dilation;
    const int64_t at = transposed && i >= 0 ? (i % stride == 0 ? i / stride : -1) : i;
    return at < in ? at : -1;
  }
};

/// A matrix of bytes [batch * outputs, positions of the kernel * count], of channels [first, first + count) of
/// `images`, bytes [batch, depth, height, width, channels] without gaps. Outside of an image lies `zero_point`.
Tensor image_columns(
    const Tensor& images, const ImageAxis* axes, bool transposed, int64_t first, int64_t count, uint8_t zero_point);

} // namespace at::quantized
