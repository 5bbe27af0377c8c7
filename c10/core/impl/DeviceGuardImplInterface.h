#pragma once

#include <c10/core/Device.h>
#include <c10/core/DeviceType.h>
#include <c10/core/Stream.h>
#include <c10/macros/Export.h>
#include <c10/macros/Macros.h>

#include <cstdint>

namespace c10 {

class DataPtr;

/// How an event is made: with the library's choice, with the backend's choice (on CUDA: with timing).
enum class EventFlag { PYTORCH_DEFAULT, BACKEND_DEFAULT, INVALID };

namespace impl {

/// What a device tells about its current device and streams. Guards, streams and events work through this, so code
/// above need not know the device. Optional calls throw by default.
struct C10_API DeviceGuardImplInterface {
  DeviceGuardImplInterface() = default;
  DeviceGuardImplInterface(const DeviceGuardImplInterface&) = default;
  DeviceGuardImplInterface& operator=(const DeviceGuardImplInterface&) = default;
  virtual ~DeviceGuardImplInterface();

  virtual DeviceType type() const = 0;
  /// Makes the device current; returns the one before.
  virtual Device exchangeDevice(Device d) const = 0;
  virtual Device getDevice() const = 0;
  virtual void setDevice(Device d) const = 0;
  /// For destructors: must not throw.
  virtual void uncheckedSetDevice(Device d) const noexcept = 0;

  /// The current stream of a device.
  virtual Stream getStream(Device d) const = 0;
  virtual Stream getDefaultStream(Device d) const;
  virtual Stream getStreamFromGlobalPool(Device d, bool isHighPriority = false) const;
  virtual Stream getNewStream(Device d, int priority = 0) const;
  /// Makes the stream current on its device; returns the one before.
  virtual Stream exchangeStream(Stream s) const = 0;
  virtual void* getStreamNativeHandle(const Stream s) const;
  virtual bool queryStream(const Stream& stream) const;
  virtual void synchronizeStream(const Stream& stream) const;
  virtual bool isStreamCapturing(const Stream& stream) const;

  /// Makes the event if *event is null, and records it.
  virtual void record(
      void** event, const Stream& stream, const DeviceIndex device_index, const c10::EventFlag flag) const;
  virtual void block(void* event, const Stream& stream) const;
  virtual bool queryEvent(void* event) const;
  virtual void synchronizeEvent(void* event) const;
  virtual void destroyEvent(void* event, const DeviceIndex device_index) const noexcept;
  /// Milliseconds between two events.
  virtual double elapsedTime(void* event1, void* event2, const DeviceIndex device_index) const;

  /// Zero if there is no device; never throws.
  virtual DeviceIndex deviceCount() const noexcept = 0;
  virtual void synchronizeDevice(const DeviceIndex device_index) const;
  /// The memory is not reused before the work that the stream has now is done.
  virtual void recordDataPtrOnStream(const c10::DataPtr& data, const Stream& stream) const;
};

/// For devices with neither several devices nor streams.
template <DeviceType D>
struct NoOpDeviceGuardImpl : public DeviceGuardImplInterface {
  DeviceType type() const override {
    return D;
  }
  Device exchangeDevice(Device) const override {
    return Device(D, -1);
  }
  Device getDevice() const override {
    return Device(D, -1);
  }
  void setDevice(Device) const override {}
  void uncheckedSetDevice(Device) const noexcept override {}
  Stream getStream(Device) const override {
    return Stream(Stream::DEFAULT, Device(D, -1));
  }
  Stream getDefaultStream(Device) const override {
    return Stream(Stream::DEFAULT, Device(D, -1));
  }
  Stream getNewStream(Device, int = 0) const override {
    return Stream(Stream::DEFAULT, Device(D, -1));
  }
  Stream exchangeStream(Stream) const override {
    return Stream(Stream::DEFAULT, Device(D, -1));
  }
  DeviceIndex deviceCount() const noexcept override {
    return 1;
  }
  bool queryStream(const Stream&) const override {
    return true;
  }
  void synchronizeStream(const Stream&) const override {}
  void synchronizeDevice(const DeviceIndex) const override {}
};

/// `impl` must live for ever.
C10_API void registerDeviceGuard(DeviceType type, const DeviceGuardImplInterface* impl);
/// Throws if nothing is registered for the device type.
C10_API const DeviceGuardImplInterface* getDeviceGuardImpl(DeviceType type);
C10_API bool hasDeviceGuardImpl(DeviceType type);

class C10_API DeviceGuardImplRegistrar {
 public:
  DeviceGuardImplRegistrar(DeviceType type, const DeviceGuardImplInterface* impl) {
    registerDeviceGuard(type, impl);
  }
};

/// Registers an implementation for a device type, at namespace scope.
#define C10_REGISTER_GUARD_IMPL(DevType, DeviceGuardImpl)                                    \
  static ::c10::impl::DeviceGuardImplRegistrar C10_ANONYMOUS_VARIABLE(g_device_guard_impl_)( \
      ::c10::DeviceType::DevType, new DeviceGuardImpl());

} // namespace impl

} // namespace c10
