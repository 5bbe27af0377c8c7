// Checks that several families of shape functions share.
#pragma once

#include <aten/core/TensorBase.h>

#include <initializer_list>

namespace at::shape {

/// Throws unless all tensors are on the device of the first.
void check_same_device(const char* op, std::initializer_list<const TensorBase*> tensors);

/// Throws unless `self` can be expanded to `sizes`.
void check_expandable(const char* op, const TensorBase& self, IntArrayRef sizes);

/// Throws unless `out` has the dtype of `self`.
void check_out_dtype(const char* op, const TensorBase& self, const TensorBase& out);

} // namespace at::shape
