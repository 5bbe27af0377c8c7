#pragma once

#include <c10/core/Device.h>
#include <c10/core/impl/InlineDeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

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

/// The same, but does nothing until it is given a device.
class OptionalDeviceGuard {
 public:
  explicit OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(Device device) : guard_(device) {}
  explicit OptionalDeviceGuard(std::optional<Device> device) : guard_(device) {}
  explicit OptionalDeviceGuard(Device device, const impl::DeviceGuardImplInterface* impl) : guard_(device, impl) {}

  void reset_device(at::Device device) {
    guard_.reset_device(device);
  }
  void reset_device(at::Device device, const impl::DeviceGuardImplInterface* impl) {
    guard_.reset_device(device, impl);
  }
  std::optional<Device> original_device() const {
    return guard_.original_device();
  }
  std::optional<Device> current_device() const {
    return guard_.current_device();
  }

 private:
  impl::InlineOptionalDeviceGuard<impl::VirtualGuardImpl> guard_;
};

} // namespace c10
