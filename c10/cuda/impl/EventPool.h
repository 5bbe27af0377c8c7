// Events of the allocators: without timing, kept for reuse.
#pragma once

#include <c10/core/Device.h>
#include <c10/cuda/impl/StreamEvents.h>

#include <cuda_runtime_api.h>

#include <mutex>
#include <vector>

namespace c10::cuda::impl {

/// An event belongs to a device and can be recorded on its streams only.
struct PooledEvent {
  cudaEvent_t event = nullptr;
  DeviceIndex device = 0;
};

class EventPool {
 public:
  /// An event after all work the stream has now. Null, with a warning, if the device cannot do it any more.
  PooledEvent* record(DeviceIndex device, cudaStream_t stream) noexcept;
  /// Has it passed? Also true when the device is lost.
  static bool done(const PooledEvent& event) noexcept;
  static void wait(const PooledEvent& event) noexcept;
  void recycle(PooledEvent* event) noexcept;

  static EventPool& get();

 private:
  PooledEvent* take(DeviceIndex device);

  std::mutex mutex_;
  std::vector<std::vector<PooledEvent*>> unused_; // by device
};

/// The part of an allocator's driver that has to do with events.
template <class Driver>
class CudaEvents : public Driver {
 public:
  void* record(DeviceStream stream) noexcept final {
    return EventPool::get().record(stream.device, static_cast<cudaStream_t>(stream.handle));
  }
  bool done(void* event) noexcept final {
    return EventPool::done(*static_cast<PooledEvent*>(event));
  }
  void wait(void* event) noexcept final {
    EventPool::wait(*static_cast<PooledEvent*>(event));
  }
  void recycle(void* event) noexcept final {
    EventPool::get().recycle(static_cast<PooledEvent*>(event));
  }
};

} // namespace c10::cuda::impl
