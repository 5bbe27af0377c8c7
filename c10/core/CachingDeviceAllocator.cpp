#include <c10/core/CachingDeviceAllocator.h>

#include <c10/util/Exception.h>

namespace c10 {

DeviceAllocator::~DeviceAllocator() = default;

std::pair<size_t, size_t> DeviceAllocator::getMemoryInfo(c10::DeviceIndex /*device*/) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "getMemoryInfo is not implemented for this allocator yet.");
}

DeviceAllocator* getDeviceAllocator(const DeviceType& t) {
  TORCH_CHECK(t != DeviceType::CPU, "getDeviceAllocator is not supported for CPU device type.");
  auto* allocator = dynamic_cast<DeviceAllocator*>(c10::GetAllocator(t));
  TORCH_CHECK(allocator != nullptr, "Allocator for ", t, " is not a DeviceAllocator.");
  return allocator;
}

} // namespace c10
