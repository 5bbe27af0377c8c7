// Convolution by cuDNN, which is looked for at run time.
#pragma once

#include <aten/core/Tensor.h>

#include <cstdint>

namespace at::native::cuda {

/// Which of the three tensors of a convolution is computed from the others.
enum class ConvolutionPass : std::uint8_t { Features, Image, Weight };

/// features = image * weight over one to three dimensions, whose numbers stand in `stride`, `padding` and `dilation`.
struct CudnnConvolution {
  Tensor image, weight, features;
  DimVector stride, padding, dilation;
  int64_t groups;
};

/// Fills the tensor that the pass is named after. False: nothing has been done, as cuDNN is not here, is switched off,
/// or does not know how.
bool cudnn_convolve(ConvolutionPass pass, const CudnnConvolution& c);

} // namespace at::native::cuda
