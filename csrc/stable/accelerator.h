// The current device and stream of the accelerator, in the stable interface.
#pragma once

#include <csrc/stable/tensor.h>

#include <memory>

namespace torch::stable::accelerator {

using DeviceIndex = torch::stable::DeviceIndex;
using StreamId = int64_t;

/// Makes a device of the accelerator current until it goes out of scope.
class TORCH_API DeviceGuard {
 public:
  DeviceGuard() = delete;
  explicit DeviceGuard(DeviceIndex device_index);
  void set_index(DeviceIndex device_index);

 private:
  std::unique_ptr<DeviceGuardOpaque, void (*)(DeviceGuardOpaque*)> guard_;
};

class TORCH_API Stream {
 public:
  Stream() = delete;
  /// Takes the handle over.
  explicit Stream(StreamHandle handle);
  StreamId id() const;
  /// The backend's own handle, a cudaStream_t for CUDA.
  void* nativeHandle() const;

 private:
  std::shared_ptr<StreamOpaque> handle_;
};

TORCH_API Stream getCurrentStream(DeviceIndex device_index);
TORCH_API DeviceIndex getCurrentDeviceIndex();

} // namespace torch::stable::accelerator
