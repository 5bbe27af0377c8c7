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

namespace at::detail {

/// Host memory that a device can copy from directly; without that device's backend there is none.
struct PinnedMemoryHooks {
  c10::Allocator* (*allocator)() = nullptr;
  bool (*is_pinned)(const void* data) = nullptr;
};
TORCH_API void register_pinned_memory(c10::DeviceType type, PinnedMemoryHooks hooks);
TORCH_API bool is_pinned_memory(c10::DeviceType type, const void* data);
/// Opens the CUDA plugin. Throws when no backend gives pinned memory.
TORCH_API c10::Allocator* pinned_memory_allocator();

} // namespace at::detail
