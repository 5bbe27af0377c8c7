#include <aten/core/pinned_memory.h>

#include <aten/detail/CUDAHooksInterface.h>
#include <c10/util/Exception.h>

#include <array>

namespace at::detail {
namespace {

std::array<PinnedMemoryHooks, static_cast<size_t>(c10::COMPILE_TIME_MAX_DEVICE_TYPES)>& registry() {
  static std::array<PinnedMemoryHooks, static_cast<size_t>(c10::COMPILE_TIME_MAX_DEVICE_TYPES)> hooks;
  return hooks;
}

} // namespace

void register_pinned_memory(c10::DeviceType type, PinnedMemoryHooks hooks) {
  registry()[static_cast<size_t>(type)] = hooks;
}

bool is_pinned_memory(c10::DeviceType type, const void* data) {
  const PinnedMemoryHooks& hooks = registry()[static_cast<size_t>(type)];
  return hooks.is_pinned != nullptr && hooks.is_pinned(data);
}

c10::Allocator* pinned_memory_allocator() {
  const CUDAHooksInterface& cuda = getCUDAHooks(); // opens the plugin, which registers
  for (const PinnedMemoryHooks& hooks : registry()) {
    if (hooks.allocator != nullptr) {
      return hooks.allocator();
    }
  }
  TORCH_CHECK(false, "Cannot pin memory: no CUDA device can be used, because ", cuda.unavailable_reason(), ".");
}

} // namespace at::detail
