#pragma once

#include <c10/core/Device.h>
#include <c10/core/DeviceType.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/InlineEvent.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace c10 {

/// A mark in a stream of any device that other streams and the host can wait for, see InlineEvent.
struct Event final {
  Event(const DeviceType device_type, const EventFlag flag = EventFlag::PYTORCH_DEFAULT) : impl_(device_type, flag) {}

  Device device() const noexcept {
    return Device(device_type(), device_index());
  }
  DeviceType device_type() const noexcept {
    return impl_.device_type();
  }
  DeviceIndex device_index() const noexcept {
    return impl_.device_index();
  }
  EventFlag flag() const noexcept {
    return impl_.flag();
  }
  bool was_marked_for_recording() const noexcept {
    return impl_.was_marked_for_recording();
  }
  void recordOnce(const Stream& stream) {
    impl_.recordOnce(stream);
  }
  void record(const Stream& stream) {
    impl_.record(stream);
  }
  void block(const Stream& stream) const {
    impl_.block(stream);
  }
  bool query() const {
    return impl_.query();
  }
  double elapsedTime(const Event& event) const {
    return impl_.elapsedTime(event.impl_);
  }
  void* eventId() const {
    return impl_.eventId();
  }
  void synchronize() const {
    impl_.synchronize();
  }

 private:
  impl::InlineEvent<impl::VirtualGuardImpl> impl_;
};

} // namespace c10
