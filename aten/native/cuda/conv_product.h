// Convolution by our own kernels, as products of matrices that are picked from images (Note [Convolution as a
// product]).
#pragma once

#include <aten/core/Tensor.h>
#include <aten/native/cuda/conv_cudnn.h>
#include <aten/native/cuda/im2col.h>

#include <cstdint>

namespace at::native::cuda {

struct ConvolutionProduct {
  const char* op;
  Tensor image, weight, features; // what the pass is named after is written, the others are read; any strides
  Tensor bias; // of the features or the image, as the pass may be; undefined: none
  const SlidingDim* dim; // three, those that are not there first
  int dims;
  std::int64_t groups;
};

/// Fills the tensor that the pass is named after. None is empty; floating or complex.
void convolve_by_product(ConvolutionPass pass, const ConvolutionProduct& c);

} // namespace at::native::cuda
