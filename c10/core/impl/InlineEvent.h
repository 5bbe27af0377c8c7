#pragma once

#include <c10/core/DeviceType.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include <utility>

namespace c10::impl {

/// A mark in a stream that others can wait for. The backend's event is made when it is recorded first. T is a
/// DeviceGuardImplInterface, see InlineDeviceGuard.
template <typename T>
struct InlineEvent final {
  InlineEvent(const DeviceType device_type, const EventFlag flag = EventFlag::PYTORCH_DEFAULT)
      : backend_(device_type), device_type_(device_type), flag_(flag) {}
  InlineEvent(InlineEvent&& other) noexcept
      : event_(std::exchange(other.event_, nullptr)),
        backend_(other.backend_),
        device_type_(other.device_type_),
        device_index_(other.device_index_),
        flag_(other.flag_),
        was_marked_for_recording_(std::exchange(other.was_marked_for_recording_, false)) {}
  InlineEvent& operator=(InlineEvent&& other) noexcept {
    swap(other);
    return *this;
  }
  ~InlineEvent() noexcept {
    if (event_ != nullptr) {
      backend_.destroyEvent(event_, device_index_);
    }
  }

  void swap(InlineEvent& other) noexcept {
    std::swap(event_, other.event_);
    std::swap(backend_, other.backend_);
    std::swap(device_type_, other.device_type_);
    std::swap(device_index_, other.device_index_);
    std::swap(flag_, other.flag_);
    std::swap(was_marked_for_recording_, other.was_marked_for_recording_);
  }

  DeviceType device_type() const noexcept {
    return device_type_;
  }
  DeviceIndex device_index() const noexcept {
    return device_index_;
  }
  EventFlag flag() const noexcept {
    return flag_;
  }
  bool was_marked_for_recording() const noexcept {
    return was_marked_for_recording_;
  }
  void* eventId() const {
    return event_;
  }

  void recordOnce(const Stream& stream) {
    if (!was_marked_for_recording_) {
      record(stream);
    }
  }
  void record(const Stream& stream) {
    check_device("recording", stream);
    backend_.record(&event_, stream, device_index_, flag_);
    was_marked_for_recording_ = true;
    device_index_ = stream.device_index();
  }
  void block(const Stream& stream) const {
    if (was_marked_for_recording_) {
      check_device("blocking", stream);
      backend_.block(event_, stream);
    }
  }
  bool query() const {
    return !was_marked_for_recording_ || backend_.queryEvent(event_);
  }
  void synchronize() const {
    if (was_marked_for_recording_) {
      backend_.synchronizeEvent(event_);
    }
  }
  /// Milliseconds from this event to `other`.
  double elapsedTime(const InlineEvent& other) const {
    TORCH_CHECK(
        other.device_type() == device_type_, "Event device type ", device_type_, " does not match other's device type ",
        other.device_type(), ".");
    TORCH_CHECK_VALUE(
        flag_ == EventFlag::BACKEND_DEFAULT && other.flag_ == EventFlag::BACKEND_DEFAULT,
        "Both events must be created with argument 'enable_timing=True'.");
    TORCH_CHECK_VALUE(
        was_marked_for_recording_ && other.was_marked_for_recording_,
        "Both events must be recorded before calculating elapsed time.");
    TORCH_CHECK(query() && other.query(), "Both events must be completed before calculating elapsed time.");
    return backend_.elapsedTime(event_, other.event_, device_index_);
  }

 private:
  void check_device(const char* what, const Stream& stream) const {
    TORCH_CHECK(
        stream.device_type() == device_type_, "Event device type ", device_type_, " does not match ", what,
        " stream's device type ", stream.device_type(), ".");
  }

  void* event_ = nullptr;
  T backend_;
  DeviceType device_type_;
  DeviceIndex device_index_ = -1;
  EventFlag flag_;
  bool was_marked_for_recording_ = false;
};

} // namespace c10::impl
