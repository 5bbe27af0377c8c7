// The accelerator of this process, whichever it is: its devices and streams through the guards that backends register.
#pragma once

#include <aten/core/Generator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <cstddef>
#include <optional>
#include <utility>

namespace at::accelerator {

/// A backend on PrivateUse1 if one has a name, else CUDA if a device can be used, else none. With `checked`, none
/// throws.
TORCH_API std::optional<c10::DeviceType> getAccelerator(bool checked = false);
/// Is it a type of device that computes beside the CPU?
TORCH_API bool isAccelerator(c10::DeviceType device_type);
/// Is it one, and none of these?
template <class... Excluded>
bool isAcceleratorExcluded(c10::DeviceType device_type, Excluded... excluded) {
  return isAccelerator(device_type) && ((device_type != excluded) && ...);
}

/// Number of devices, 0 without an accelerator.
TORCH_API c10::DeviceIndex deviceCount();

/// These throw without an accelerator.
TORCH_API void setDeviceIndex(c10::DeviceIndex device_index);
TORCH_API c10::DeviceIndex getDeviceIndex();
TORCH_API c10::DeviceIndex exchangeDevice(c10::DeviceIndex device_index);
TORCH_API void setCurrentStream(c10::Stream stream);
TORCH_API c10::Stream getCurrentStream(c10::DeviceIndex device_index);
/// Waits for all work of a device.
TORCH_API void synchronizeDevice(c10::DeviceIndex device_index);
/// The generator that random operators on the device use by default.
TORCH_API const Generator& getDefaultGenerator(c10::DeviceIndex device_index);

/// What the accelerator's caching allocator does; backends whose allocator is not one throw.
TORCH_API void emptyCache();
TORCH_API c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device_index);
TORCH_API void resetAccumulatedStats(c10::DeviceIndex device_index);
TORCH_API void resetPeakStats(c10::DeviceIndex device_index);
/// Free and total bytes of the device.
TORCH_API std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device_index);

} // namespace at::accelerator

namespace at {
using accelerator::getAccelerator;
using accelerator::isAccelerator;
} // namespace at
