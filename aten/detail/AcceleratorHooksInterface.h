// What the library asks of a device's backend beside kernels and guards: generators, pinned memory, where memory lies.
#pragma once

#include <aten/core/Generator.h>
#include <c10/core/Allocator.h>
#include <c10/core/Device.h>

namespace at {

/// Everything is optional: what a backend does not implement throws with the name of the call.
struct TORCH_API AcceleratorHooksInterface {
  virtual ~AcceleratorHooksInterface() = default;

  virtual bool isBuilt() const {
    return false;
  }
  virtual bool isAvailable() const {
    return false;
  }
  /// Is a device in use already?
  virtual bool hasPrimaryContext(c10::DeviceIndex device_index) const;
  /// Makes the backend ready; called often.
  virtual void init() const;

  virtual c10::DeviceIndex deviceCount() const {
    return 0;
  }
  virtual void setCurrentDevice(c10::DeviceIndex device) const;
  virtual c10::DeviceIndex getCurrentDevice() const;
  /// Makes a device current; returns the one before.
  virtual c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const;
  virtual c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const;

  virtual bool isPinnedPtr(const void* data) const;
  virtual c10::Allocator* getPinnedMemoryAllocator() const;
  virtual c10::Device getDeviceFromPtr(void* data) const;
  virtual const Generator& getDefaultGenerator(c10::DeviceIndex device_index = -1) const;
  virtual Generator getNewGenerator(c10::DeviceIndex device_index = -1) const;
};

namespace detail {
/// Throws when the type is not that of an accelerator, or no backend for it is loaded.
TORCH_API const AcceleratorHooksInterface& getAcceleratorHooks(c10::DeviceType type);
} // namespace detail

} // namespace at
