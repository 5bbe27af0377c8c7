// Page-locked host memory, which backends of devices give.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/DeviceType.h>
#include <c10/macros/Macros.h>

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
