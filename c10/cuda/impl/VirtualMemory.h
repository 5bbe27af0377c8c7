// Addresses of a device and the memory behind them, by the driver's virtual memory functions.
#pragma once

#include <c10/core/Device.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

namespace c10::cuda::impl {

/// Of one device. Pages are mapped one by one, so that each can go back by itself.
class VirtualMemory {
 public:
  explicit VirtualMemory(DeviceIndex device) : device_(device) {}

  /// Null if driver or device cannot do that, or there are no addresses left.
  void* reserve(size_t bytes);
  void release(void* address, size_t bytes) noexcept;
  /// False, and nothing is changed, if the device has no room. `page` is a multiple of 2 MiB.
  bool map(void* address, size_t bytes, size_t page);
  void unmap(void* address, size_t bytes, size_t page) noexcept;
  /// Kernels of that device may use this device's memory from now on.
  void add_peer(DeviceIndex peer);

 private:
  bool supported() const;
  void allow_access(char* address, size_t bytes, const std::vector<DeviceIndex>& devices) const;

  const DeviceIndex device_;
  std::mutex mutex_;
  std::vector<DeviceIndex> peers_;
  std::map<char*, size_t> mapped_;
};

} // namespace c10::cuda::impl
