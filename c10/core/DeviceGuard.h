#pragma once

#include <c10/core/Device.h>
#include <c10/core/impl/InlineDeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <new>
#include <optional>

namespace c10 {

/// Makes a device of any type current until it goes out of scope, see InlineDeviceGuard.
class DeviceGuard {
 public:
  explicit DeviceGuard(Device device) : guard_(device) {}
  explicit DeviceGuard(Device device, const impl::DeviceGuardImplInterface* impl) : guard_(device, impl) {}

  void reset_device(at::Device device) {
    guard_.reset_device(device);
  }
  void reset_device(at::Device device, const impl::DeviceGuardImplInterface* impl) {
    guard_.reset_device(device, impl);
  }
  void set_index(DeviceIndex index) {
    guard_.set_index(index);
  }
  Device original_device() const {
    return guard_.original_device();
  }
  Device current_device() const {
    return guard_.current_device();
  }

 private:
  impl::InlineDeviceGuard<impl::VirtualGuardImpl> guard_;
};

/// The same, but does nothing until it is given a device. (No std::optional of the guard: that is dear in a header that
/// everything includes.)
class OptionalDeviceGuard {
 public:
  explicit OptionalDeviceGuard() noexcept {}
  explicit OptionalDeviceGuard(Device device) : guard_(device), engaged_(true) {}
  explicit OptionalDeviceGuard(std::optional<Device> device) {
    if (device.has_value()) {
      reset_device(*device);
    }
  }
  explicit OptionalDeviceGuard(Device device, const impl::DeviceGuardImplInterface* impl)
      : guard_(device, impl), engaged_(true) {}
  OptionalDeviceGuard(const OptionalDeviceGuard&) = delete;
  OptionalDeviceGuard& operator=(const OptionalDeviceGuard&) = delete;
  ~OptionalDeviceGuard() {
    if (engaged_) {
      guard_.~Guard();
    }
  }

  void reset_device(at::Device device) {
    if (engaged_) {
      guard_.reset_device(device);
    } else {
      ::new (static_cast<void*>(&guard_)) Guard(device);
      engaged_ = true;
    }
  }
  void reset_device(at::Device device, const impl::DeviceGuardImplInterface* impl) {
    if (engaged_) {
      guard_.reset_device(device, impl);
    } else {
      ::new (static_cast<void*>(&guard_)) Guard(device, impl);
      engaged_ = true;
    }
  }
  std::optional<Device> original_device() const {
    return engaged_ ? std::optional<Device>(guard_.original_device()) : std::nullopt;
  }
  std::optional<Device> current_device() const {
    return engaged_ ? std::optional<Device>(guard_.current_device()) : std::nullopt;
  }

 private:
  using Guard = impl::InlineDeviceGuard<impl::VirtualGuardImpl>;
  union {
    Guard guard_;
  };
  bool engaged_ = false;
};

} // namespace c10
