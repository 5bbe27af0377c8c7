// Pointwise convolution as products of matrices that lie in the images as they are.
//
// With the pixels of an image as one dimension, an image is a matrix of channels x pixels, or in channels-last its
// transpose, and the weight one of features x channels. In channels-last all images of a batch are one matrix of
// pixels, and the convolution is one product, to which cuBLASLt adds the bias. Otherwise it is a batch of products with
// the same weight. Images that are looked at with a stride are the smaller ones of every other pixel.
#include <aten/native/cuda/conv_pointwise.h>

#include <aten/Functions.h>
#include <aten/native/cuda/matmul.h>

namespace at::native::cuda {

namespace {

/// Whether each pixel of the features is a pixel of the image, by a single weight.
bool is_pointwise(const ConvolutionProduct& c) {
  for (int i = 0; i < c.dims; ++i) {
    const SlidingDim& d = c.dim[3 - c.dims + i];
    if (d.kernel != 1 || d.padding != 0 || (c.image.size(i + 2) - 1) / d.stride + 1 != c.features.size(i + 2)) {
      return false;
    }
  }
  return c.groups == 1;
}

/// The image at the pixels of the features.
Tensor met_pixels(const ConvolutionProduct& c) {
  Tensor image = c.image;
  for (int i = 0; i < c.dims; ++i) {
    image = image.slice(i + 2, 0, image.size(i + 2), c.dim[3 - c.dims + i].stride);
  }
  return image;
}

/// Whether the dimensions from `first` to `last` can be seen as one, the last being the fastest.
bool joins(const Tensor& t, int64_t first, int64_t last) {
  int64_t step = 0, size = 0; // of the dimensions behind
  for (int64_t d = last; d >= first; --d) {
    if (t.size(d) == 1) {
      continue;
    }
    if (size != 0 && t.stride(d) != step * size) {
      return false;
    }
    step = size == 0 ? t.stride(d) : step;
    size = (size == 0 ? 1 : size) * t.size(d);
  }
  return true;
}

/// As [batch, channels, pixels].
Tensor with_one_dim(const Tensor& t) {
  return t.flatten(2);
}
/// Whether the pixels of all images of [batch, channels, pixels] can be seen as one dimension.
bool joins_batch(const Tensor& t) {
  return joins(t.transpose(1, 2), 0, 1);
}
/// As [pixels of all images, channels].
Tensor as_pixels(const Tensor& t) {
  return t.transpose(1, 2).flatten(0, 1);
}
/// As [channels, pixels of all images], a copy where they do not lie so.
Tensor as_channels(const Tensor& t) {
  return joins_batch(t) ? as_pixels(t).t() : t.transpose(0, 1).flatten(1);
}

/// `to` = the product of each pixel of `from` with `weight` [channels of from, channels of to], plus the bias.
void multiply_pixels(
    const ConvolutionProduct& c, const Tensor& from, const Tensor& weight, const Tensor& to, bool tf32) {
  if (joins_batch(from) && joins_batch(to)) {
    return matrix_product(c.op, as_pixels(from), weight, c.bias, tf32, as_pixels(to));
  }
  const Tensor every = weight.t().unsqueeze(0).expand({from.size(0), weight.size(1), weight.size(0)});
  matrix_product(c.op, every, from, Tensor(), tf32, to);
  if (c.bias.defined()) {
    Tensor(to).add_(c.bias.view({1, c.bias.numel(), 1}));
  }
}

} // namespace

bool convolve_pointwise(ConvolutionPass pass, const ConvolutionProduct& c, bool tf32) {
  if (!is_pointwise(c)) {
    return false;
  }
  const Tensor image = met_pixels(c);
  Tensor weight = c.weight; // [features, channels]
  for (int i = 0; i < c.dims; ++i) {
    weight = weight.select(2, 0);
  }
  switch (pass) {
    case ConvolutionPass::Features:
      if (!joins(c.features, 2, c.dims + 1)) {
        return false;
      }
      multiply_pixels(c, with_one_dim(image), weight.t(), with_one_dim(c.features), tf32);
      return true;
    case ConvolutionPass::Image:
      // Pixels that no window meets have no gradient.
      if (image.numel() != c.image.numel() || !joins(c.image, 2, c.dims + 1)) {
        return false;
      }
      multiply_pixels(c, with_one_dim(c.features), weight, with_one_dim(c.image), tf32);
      return true;
    default:
      matrix_product(
          c.op, as_channels(with_one_dim(c.features)), as_channels(with_one_dim(image)).t(), Tensor(), tf32, weight);
      return true;
  }
}

} // namespace at::native::cuda
