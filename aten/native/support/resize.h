// Growing storages in place. The public part of <ATen/native/Resize.h>.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/native/support/OutArgument.h>
#include <c10/core/StorageImpl.h>

namespace at::native {

/// Reallocates `storage` to `bytes`, keeping what fits. Throws when it is not resizable.
TORCH_API void resize_storage_bytes(c10::StorageImpl* storage, int64_t bytes);

/// Makes the storage of `self` at least `bytes` large.
TORCH_API void grow_storage(const Tensor& self, int64_t bytes);

} // namespace at::native
