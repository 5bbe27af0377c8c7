#include <csrc/compat/c10/core/CopyBytes.h>

#include <c10/util/Exception.h>

#include <cstring>

namespace c10 {

namespace {

struct CopyFunctions {
  CopyBytesFunction sync;
  CopyBytesFunction async;
};

constexpr auto kTypeCount = static_cast<size_t>(COMPILE_TIME_MAX_DEVICE_TYPES);

// Constant-initialised, as backends register from static constructors.
CopyFunctions copy_functions[kTypeCount][kTypeCount];

CopyFunctions& functions_of(DeviceType from, DeviceType to) {
  const auto i = static_cast<size_t>(from);
  const auto j = static_cast<size_t>(to);
  TORCH_CHECK(i < kTypeCount && j < kTypeCount, "CopyBytes: a device type does not exist");
  return copy_functions[i][j];
}

} // namespace

_CopyBytesFunctionRegisterer::_CopyBytesFunctionRegisterer(
    DeviceType from, DeviceType to, CopyBytesFunction func_sync, CopyBytesFunction func_async) {
  functions_of(from, to) = {func_sync, func_async != nullptr ? func_async : func_sync};
}

void CopyBytes(size_t nbytes, const void* src, Device src_device, void* dst, Device dst_device, bool async) {
  if (nbytes == 0) {
    return;
  }
  const CopyFunctions& functions = functions_of(src_device.type(), dst_device.type());
  const CopyBytesFunction copy = async ? functions.async : functions.sync;
  if (copy != nullptr) {
    copy(nbytes, src, src_device, dst, dst_device);
    return;
  }
  TORCH_CHECK(
      src_device.is_cpu() && dst_device.is_cpu(), "No function found for copying from ", src_device.type(), " to ",
      dst_device.type());
  std::memcpy(dst, src, nbytes);
}

} // namespace c10
