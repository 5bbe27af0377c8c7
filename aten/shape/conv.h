// Shape functions of convolutions and of the windows they slide.
#pragma once

#include <aten/core/TensorSpec.h>

#include <optional>

namespace at {
class Tensor;
}

namespace at::shape {

TensorSpec convolution(const char* op, const TensorBase& input, const TensorBase& weight, const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef output_padding, int64_t groups);

/// The layout that results of a convolution have: channels last where the input or the weight is so.
c10::MemoryFormat convolution_memory_format(const TensorBase& input, const TensorBase& weight);

/// `values` for each of `dims` spatial dimensions: as given, or one value for all. Throws for any other number.
c10::DimVector conv_parameter(IntArrayRef values, const char* name, int64_t dims);

TensorSpec im2col(const char* op, const TensorBase& self, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride);
TensorSpec col2im(const char* op, const TensorBase& self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride);

} // namespace at::shape
