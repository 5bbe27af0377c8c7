// Pointwise convolution, whose windows have one element each.
#pragma once

#include <aten/native/cuda/conv_product.h>

namespace at::native::cuda {

/// Fills the tensor that the pass is named after by products of cuBLAS. False: nothing has been done, as it is no such
/// convolution.
bool convolve_pointwise(ConvolutionPass pass, const ConvolutionProduct& c, bool tf32);

} // namespace at::native::cuda
