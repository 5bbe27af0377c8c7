#include <aten/core/DeviceAccelerator.h>

#include <aten/core/Context.h>
#include <aten/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

namespace at::accelerator {
namespace {

const c10::impl::DeviceGuardImplInterface& guard() {
  return *c10::impl::getDeviceGuardImpl(*getAccelerator(/*checked=*/true));
}

c10::DeviceAllocator& allocator() {
  return *c10::getDeviceAllocator(*getAccelerator(/*checked=*/true));
}

c10::Device device(c10::DeviceIndex index) {
  return c10::Device(guard().type(), index);
}

} // namespace

std::optional<c10::DeviceType> getAccelerator(bool checked) {
  if (c10::is_privateuse1_backend_registered()) {
    return c10::DeviceType::PrivateUse1;
  }
  if (at::detail::getCUDAHooks().device_count() > 0) {
    return c10::DeviceType::CUDA;
  }
  TORCH_CHECK(
      !checked,
      "Cannot access accelerator device when none is available: ", at::detail::getCUDAHooks().unavailable_reason());
  return std::nullopt;
}

bool isAccelerator(c10::DeviceType device_type) {
  switch (device_type) {
    case c10::DeviceType::CUDA:
    case c10::DeviceType::HIP:
    case c10::DeviceType::XPU:
    case c10::DeviceType::MPS:
    case c10::DeviceType::HPU:
    case c10::DeviceType::MTIA:
    case c10::DeviceType::XLA:
    case c10::DeviceType::PrivateUse1:
      return true;
    default:
      return false;
  }
}

c10::DeviceIndex deviceCount() {
  const std::optional<c10::DeviceType> type = getAccelerator();
  return type && c10::impl::hasDeviceGuardImpl(*type) ? c10::impl::getDeviceGuardImpl(*type)->deviceCount() : 0;
}

void setDeviceIndex(c10::DeviceIndex device_index) {
  guard().setDevice(device(device_index));
}

c10::DeviceIndex getDeviceIndex() {
  return guard().getDevice().index();
}

c10::DeviceIndex exchangeDevice(c10::DeviceIndex device_index) {
  return guard().exchangeDevice(device(device_index)).index();
}

void setCurrentStream(c10::Stream stream) {
  TORCH_CHECK(
      stream.device_type() == guard().type(), "stream's device type ", stream.device_type(),
      " doesn't match the current accelerator ", guard().type());
  guard().exchangeStream(stream);
}

c10::Stream getCurrentStream(c10::DeviceIndex device_index) {
  return guard().getStream(device(device_index));
}

void synchronizeDevice(c10::DeviceIndex device_index) {
  guard().synchronizeDevice(device_index);
}

const Generator& getDefaultGenerator(c10::DeviceIndex device_index) {
  return globalContext().defaultGenerator(device(device_index));
}

void emptyCache() {
  allocator().emptyCache();
}

c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device_index) {
  return allocator().getDeviceStats(device_index);
}

void resetAccumulatedStats(c10::DeviceIndex device_index) {
  allocator().resetAccumulatedStats(device_index);
}

void resetPeakStats(c10::DeviceIndex device_index) {
  allocator().resetPeakStats(device_index);
}

std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device_index) {
  return allocator().getMemoryInfo(device_index);
}

} // namespace at::accelerator
