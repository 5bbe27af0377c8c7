// Shape functions of padding with what is inside. How many dimensions are padded stands in the operator's name.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>

namespace at::shape {

/// [batch,] channels, and padded sizes; channels last if self is.
TensorSpec reflection_pad(const char* op, const TensorBase& self, IntArrayRef padding);
TensorSpec replication_pad(const char* op, const TensorBase& self, IntArrayRef padding);
/// Self's sizes; grad_output must have those of the padded tensor.
TensorSpec reflection_pad_backward(const char* op, const TensorBase& grad_output, const TensorBase& self, IntArrayRef padding);
TensorSpec replication_pad_backward(const char* op, const TensorBase& grad_output, const TensorBase& self, IntArrayRef padding);

} // namespace at::shape
