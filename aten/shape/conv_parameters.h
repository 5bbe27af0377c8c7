// What a convolution's arguments mean for its kernels.
#pragma once

#include <aten/core/TensorSpec.h>

namespace at::shape {

/// The layout that results of a convolution have: channels-last where the input or the weight is so.
c10::MemoryFormat convolution_memory_format(const TensorBase& input, const TensorBase& weight);

/// `values` for each of `dims` spatial dimensions: as given, or one value for all. Throws for any other number.
c10::DimVector conv_parameter(IntArrayRef values, const char* name, int64_t dims);

} // namespace at::shape
