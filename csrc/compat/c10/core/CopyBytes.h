#pragma once

#include <c10/core/Device.h>
#include <c10/macros/Export.h>
#include <c10/macros/Macros.h>

#include <cstddef>

namespace c10 {

using CopyBytesFunction = void (*)(size_t nbytes, const void* src, Device src_device, void* dst, Device dst_device);

/// Registers how bytes are copied between two device types; without an asynchronous way the other one is used for both.
struct C10_API _CopyBytesFunctionRegisterer {
  _CopyBytesFunctionRegisterer(
      DeviceType from, DeviceType to, CopyBytesFunction func_sync, CopyBytesFunction func_async = nullptr);
};

#define REGISTER_COPY_BYTES_FUNCTION(from, to, ...)                                                        \
  namespace {                                                                                              \
  static c10::_CopyBytesFunctionRegisterer C10_ANONYMOUS_VARIABLE(g_copy_function)(from, to, __VA_ARGS__); \
  }

/// Copies bytes between two devices. Throws if nothing is registered for the pair.
C10_API void CopyBytes(size_t nbytes, const void* src, Device src_device, void* dst, Device dst_device, bool async);

} // namespace c10
