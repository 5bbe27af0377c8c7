#pragma once

#include <c10/core/Device.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>
#include <c10/util/Optional.h>

#include <type_traits>
#include <utility>

namespace c10::impl {

/// Makes a device current until it goes out of scope. T is a DeviceGuardImplInterface: a final class of one device,
/// whose calls are then inlined, or VirtualGuardImpl. A device without an index means the current one.
template <typename T>
class InlineDeviceGuard {
 public:
  explicit InlineDeviceGuard(Device device) : InlineDeviceGuard(device, T(device.type())) {}
  template <typename U = T, typename = std::enable_if_t<!std::is_same_v<U, VirtualGuardImpl>>>
  explicit InlineDeviceGuard(DeviceIndex device_index) : InlineDeviceGuard(Device(U::static_type, device_index)) {}
  /// With a given implementation, for tests.
  template <typename U = T, typename = std::enable_if_t<std::is_same_v<U, VirtualGuardImpl>>>
  explicit InlineDeviceGuard(Device device, const DeviceGuardImplInterface* impl)
      : InlineDeviceGuard(device, VirtualGuardImpl(impl != nullptr ? impl : getDeviceGuardImpl(device.type()))) {}
  InlineDeviceGuard(const InlineDeviceGuard&) = delete;
  InlineDeviceGuard& operator=(const InlineDeviceGuard&) = delete;
  ~InlineDeviceGuard() {
    impl_.uncheckedSetDevice(original_device_);
  }

  /// Another device of the same type.
  template <typename U = T, typename = std::enable_if_t<!std::is_same_v<U, VirtualGuardImpl>>>
  void set_device(at::Device device) {
    TORCH_CHECK(
        device.type() == U::static_type, "the guard is for ", U::static_type, " devices, but got device ", device);
    if (device.index() == -1) {
      return;
    }
    impl_.setDevice(device);
    current_device_ = device;
  }
  template <typename U = T, typename = std::enable_if_t<!std::is_same_v<U, VirtualGuardImpl>>>
  void reset_device(at::Device device) {
    set_device(device);
  }
  /// Another device; of another type too: then the first type's device is restored now.
  template <typename U = T, typename = std::enable_if_t<std::is_same_v<U, VirtualGuardImpl>>>
  void reset_device(at::Device device, const DeviceGuardImplInterface* impl = nullptr) {
    if (device.index() == -1) {
      return;
    }
    if (device.type() == original_device_.type()) {
      impl_.setDevice(device);
    } else {
      VirtualGuardImpl next = impl != nullptr ? VirtualGuardImpl(impl) : VirtualGuardImpl(device.type());
      impl_.setDevice(original_device_);
      impl_ = next;
      original_device_ = impl_.exchangeDevice(device);
    }
    current_device_ = device;
  }
  void set_index(DeviceIndex index) {
    reset_device(Device(original_device_.type(), index));
  }

  Device original_device() const {
    return original_device_;
  }
  Device current_device() const {
    return current_device_;
  }

 protected:
  T impl_;

 private:
  explicit InlineDeviceGuard(Device device, T impl)
      : impl_(std::move(impl)),
        original_device_(device.index() == -1 ? impl_.getDevice() : impl_.exchangeDevice(device)),
        current_device_(device.index() == -1 ? original_device_ : device) {}

  Device original_device_;
  Device current_device_;
};

/// The same, but does nothing until it is given a device.
template <typename T>
class InlineOptionalDeviceGuard {
 public:
  explicit InlineOptionalDeviceGuard() = default;
  explicit InlineOptionalDeviceGuard(std::optional<Device> device_opt) {
    if (device_opt) {
      guard_.emplace(*device_opt);
    }
  }
  // (The index is named by way of U, so that its std::optional is compiled where it is used.)
  template <typename U = T>
  explicit InlineOptionalDeviceGuard(
      std::optional<std::enable_if_t<!std::is_same_v<U, VirtualGuardImpl>, DeviceIndex>> device_index_opt) {
    if (device_index_opt) {
      guard_.emplace(*device_index_opt);
    }
  }
  template <
      typename... Args,
      typename = std::enable_if_t<std::is_constructible_v<InlineDeviceGuard<T>, Args&&...> && sizeof...(Args) != 0>>
  explicit InlineOptionalDeviceGuard(Args&&... args) : guard_(std::in_place, std::forward<Args>(args)...) {}
  InlineOptionalDeviceGuard(const InlineOptionalDeviceGuard&) = delete;
  InlineOptionalDeviceGuard& operator=(const InlineOptionalDeviceGuard&) = delete;

  template <typename U = T, typename = std::enable_if_t<!std::is_same_v<U, VirtualGuardImpl>>>
  void set_device(at::Device device) {
    reset_device(device);
  }
  void reset_device(at::Device device) {
    guard_ ? guard_->reset_device(device) : static_cast<void>(guard_.emplace(device));
  }
  template <typename U = T, typename = std::enable_if_t<std::is_same_v<U, VirtualGuardImpl>>>
  void reset_device(at::Device device, const DeviceGuardImplInterface* impl) {
    guard_ ? guard_->reset_device(device, impl) : static_cast<void>(guard_.emplace(device, impl));
  }
  template <typename U = T, typename = std::enable_if_t<!std::is_same_v<U, VirtualGuardImpl>>>
  void set_index(DeviceIndex index) {
    guard_ ? guard_->set_index(index) : static_cast<void>(guard_.emplace(index));
  }
  std::optional<Device> original_device() const {
    return guard_ ? std::make_optional(guard_->original_device()) : std::nullopt;
  }
  std::optional<Device> current_device() const {
    return guard_ ? std::make_optional(guard_->current_device()) : std::nullopt;
  }
  /// Restores the device now.
  void reset() {
    guard_.reset();
  }

 private:
  std::optional<InlineDeviceGuard<T>> guard_;
};

} // namespace c10::impl
