#pragma once

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include <array>

namespace c10::impl {

constexpr DeviceIndex kFakeGuardImplMaxDevices = 8;

/// Eight devices that exist by name only, for tests of guards: the current device and its streams are numbers of the
/// thread.
template <DeviceType T>
struct FakeGuardImpl final : DeviceGuardImplInterface {
  static constexpr DeviceType static_type = T;

  FakeGuardImpl() = default;
  /* implicit */ FakeGuardImpl(DeviceType /*type*/) {}

  DeviceType type() const override {
    return T;
  }
  Device exchangeDevice(Device d) const override {
    const Device old = getDevice();
    setDevice(d);
    return old;
  }
  Device getDevice() const override {
    return Device(T, current_device_);
  }
  void setDevice(Device d) const override {
    TORCH_INTERNAL_ASSERT(d.type() == T, "FakeGuardImpl: device ", d, " is not of type ", T);
    setDeviceIndex(d.index());
  }
  void uncheckedSetDevice(Device d) const noexcept override {
    current_device_ = d.index();
  }
  Stream getStream(Device d) const noexcept override {
    return Stream(Stream::UNSAFE, d, current_streams_[d.index()]);
  }
  Stream exchangeStream(Stream s) const noexcept override {
    const StreamId old = current_streams_[s.device_index()];
    current_streams_[s.device_index()] = s.id();
    return Stream(Stream::UNSAFE, s.device(), old);
  }
  DeviceIndex deviceCount() const noexcept override {
    return kFakeGuardImplMaxDevices;
  }

  // All work is done at once, so there is nothing to wait for.
  void record(void**, const Stream&, const DeviceIndex, const EventFlag) const override {}
  void block(void*, const Stream&) const override {}
  bool queryEvent(void*) const override {
    return true;
  }
  void destroyEvent(void*, const DeviceIndex) const noexcept override {}

  static DeviceIndex getDeviceIndex() {
    return current_device_;
  }
  static void setDeviceIndex(DeviceIndex i) {
    TORCH_INTERNAL_ASSERT(
        i >= 0 && i < kFakeGuardImplMaxDevices, "FakeGuardImpl: there are ", int{kFakeGuardImplMaxDevices},
        " devices, got index ", int{i});
    current_device_ = i;
  }
  static StreamId getCurrentStreamIdFor(DeviceIndex i) {
    return current_streams_.at(i);
  }
  static void resetStreams() {
    current_streams_.fill(0);
  }

 private:
  static inline thread_local DeviceIndex current_device_ = 0;
  static inline thread_local std::array<StreamId, kFakeGuardImplMaxDevices> current_streams_{};
};

} // namespace c10::impl
