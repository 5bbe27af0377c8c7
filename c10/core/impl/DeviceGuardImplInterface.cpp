#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <c10/util/Exception.h>

#include <atomic>
#include <iterator>

namespace c10::impl {

DeviceGuardImplInterface::~DeviceGuardImplInterface() = default;

namespace {

[[noreturn]] void not_supported(DeviceType type, const char* what) {
  TORCH_CHECK(false, "Backend doesn't support ", what, ": ", type);
}

using Slot = std::atomic<const DeviceGuardImplInterface*>;

// Constant-initialised: backends register from static constructors of any file.
constinit Slot registry[COMPILE_TIME_MAX_DEVICE_TYPES];

Slot& slot_of(DeviceType type) {
  const auto index = static_cast<size_t>(type);
  TORCH_CHECK(index < std::size(registry), "device type ", static_cast<int>(type), " does not exist");
  return registry[index];
}

// Both are always there, whatever registers for the device later.
const DeviceGuardImplInterface* built_in(DeviceType type) {
  static const NoOpDeviceGuardImpl<DeviceType::CPU>* const cpu = new NoOpDeviceGuardImpl<DeviceType::CPU>();
  static const NoOpDeviceGuardImpl<DeviceType::Meta>* const meta = new NoOpDeviceGuardImpl<DeviceType::Meta>();
  switch (type) {
    case DeviceType::CPU:
      return cpu;
    case DeviceType::Meta:
      return meta;
    default:
      return nullptr;
  }
}

const DeviceGuardImplInterface* find(DeviceType type) {
  const DeviceGuardImplInterface* impl = slot_of(type).load(std::memory_order_acquire);
  return impl != nullptr ? impl : built_in(type);
}

} // namespace

void registerDeviceGuard(DeviceType type, const DeviceGuardImplInterface* impl) {
  slot_of(type).store(impl, std::memory_order_release);
}

const DeviceGuardImplInterface* getDeviceGuardImpl(DeviceType type) {
  const DeviceGuardImplInterface* impl = find(type);
  TORCH_CHECK(impl != nullptr, "PyTorch is not linked with support for ", type, " devices");
  return impl;
}

bool hasDeviceGuardImpl(DeviceType type) {
  return find(type) != nullptr;
}

Stream DeviceGuardImplInterface::getDefaultStream(Device) const {
  not_supported(type(), "acquiring a default stream");
}
Stream DeviceGuardImplInterface::getStreamFromGlobalPool(Device, bool) const {
  not_supported(type(), "acquiring a stream from pool");
}
Stream DeviceGuardImplInterface::getNewStream(Device, int) const {
  not_supported(type(), "create a new Stream");
}
void* DeviceGuardImplInterface::getStreamNativeHandle(const Stream) const {
  not_supported(type(), "getting stream native handle");
}
bool DeviceGuardImplInterface::queryStream(const Stream&) const {
  not_supported(type(), "querying streams");
}
void DeviceGuardImplInterface::synchronizeStream(const Stream&) const {
  not_supported(type(), "synchronizing streams");
}
bool DeviceGuardImplInterface::isStreamCapturing(const Stream&) const {
  return false;
}
void DeviceGuardImplInterface::record(void**, const Stream&, const DeviceIndex, const c10::EventFlag) const {
  not_supported(type(), "events");
}
void DeviceGuardImplInterface::block(void*, const Stream&) const {
  not_supported(type(), "events");
}
bool DeviceGuardImplInterface::queryEvent(void*) const {
  not_supported(type(), "events");
}
void DeviceGuardImplInterface::synchronizeEvent(void*) const {
  not_supported(type(), "synchronizing events");
}
void DeviceGuardImplInterface::destroyEvent(void*, const DeviceIndex) const noexcept {}
double DeviceGuardImplInterface::elapsedTime(void*, void*, const DeviceIndex) const {
  not_supported(type(), "elapsedTime");
}
void DeviceGuardImplInterface::synchronizeDevice(const DeviceIndex) const {
  not_supported(type(), "synchronizing all streams on device");
}
void DeviceGuardImplInterface::recordDataPtrOnStream(const c10::DataPtr&, const Stream&) const {}

} // namespace c10::impl
