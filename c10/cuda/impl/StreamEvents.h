// What allocators ask of streams. Free of CUDA.
#pragma once

#include <c10/core/Device.h>

#include <compare>

namespace c10::cuda::impl {

/// A stream by its handle. The default streams of all devices have the handle null.
struct DeviceStream {
  DeviceIndex device = 0;
  void* handle = nullptr;

  auto operator<=>(const DeviceStream&) const = default;
};

class StreamEvents {
 public:
  virtual ~StreamEvents() = default;
  /// An event after all work the stream has now; null if the device is past waiting for.
  virtual void* record(DeviceStream stream) noexcept = 0;
  virtual bool done(void* event) noexcept = 0;
  virtual void wait(void* event) noexcept = 0;
  /// The event is not needed any more.
  virtual void recycle(void* event) noexcept = 0;
};

} // namespace c10::cuda::impl
