// Strides of a pointwise operator's result, beside what its iterator gives: functions for the entries' field `layout`.
#pragma once

#include <aten/core/TensorBase.h>

namespace at::native {

/// The strides that self gives, without the scalars beside it.
TORCH_API void preserve_strides_of_self(const TensorBase& result, const TensorBase& self);
/// Where PyTorch makes the result with empty_like(self): it then keeps strides that say nothing, in dimensions of one
/// element and in tensors without elements.
TORCH_API void like_self(const TensorBase& result, const TensorBase& self);
/// The same for complex self alone.
TORCH_API void like_complex_self(const TensorBase& result, const TensorBase& self);
/// The same for integers and bools alone.
TORCH_API void like_integral_self(const TensorBase& result, const TensorBase& self);

} // namespace at::native
