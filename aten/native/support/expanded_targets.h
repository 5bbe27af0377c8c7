// In-place targets that were expanded, so that elements share memory. Most operators refuse them; PyTorch's index_put_,
// index_fill_ and masked_fill_ warn and go on, threshold_ goes on, and programs rely on it.
#pragma once

#include <aten/core/Tensor.h>

namespace at::native {

/// Warns when elements of index_put_'s target share memory. Of positions that share it the last one written wins.
TORCH_API void warn_if_index_put_target_is_expanded(const TensorBase& self);

/// masked_fill_ for a target with strides of 0: an element gets the value where the mask is set for any of those that
/// share it.
TORCH_API Tensor& masked_fill_expanded_(Tensor& self, const Tensor& mask, const Scalar& value);

/// index_fill_ for a target with strides of 0: an element gets the value where the index names any of those that share
/// it.
TORCH_API Tensor& index_fill_expanded_(Tensor& self, int64_t dim, const Tensor& index, const Scalar& value);

/// threshold_ for a target with strides of 0.
TORCH_API Tensor& threshold_expanded_(Tensor& self, const Scalar& threshold, const Scalar& value);

/// conj_physical_ for a target with strides of 0: real elements stay as they are, complex ones are refused.
TORCH_API Tensor& conj_physical_expanded_(Tensor& self);

} // namespace at::native
