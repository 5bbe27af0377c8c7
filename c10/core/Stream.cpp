#include <c10/core/Stream.h>

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include <ostream>

namespace c10 {

void* Stream::native_handle() const {
  return impl::getDeviceGuardImpl(device_.type())->getStreamNativeHandle(*this);
}

bool Stream::query() const {
  return impl::getDeviceGuardImpl(device_.type())->queryStream(*this);
}

void Stream::synchronize() const {
  impl::getDeviceGuardImpl(device_.type())->synchronizeStream(*this);
}

bool Stream::is_capturing() const {
  return impl::getDeviceGuardImpl(device_.type())->isStreamCapturing(*this);
}

Stream Stream::unpack3(StreamId stream_id, DeviceIndex device_index, DeviceType device_type) {
  TORCH_CHECK(isValidDeviceType(device_type), "device type ", static_cast<int>(device_type), " does not exist");
  return Stream(UNSAFE, Device(device_type, device_index), stream_id);
}

std::ostream& operator<<(std::ostream& stream, const Stream& s) {
  return stream << "stream " << s.id() << " on device " << s.device();
}

} // namespace c10
