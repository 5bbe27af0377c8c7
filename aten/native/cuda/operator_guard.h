// The device that an operator runs on.
#pragma once

#include <c10/core/Device.h>

#include <optional>

namespace at::native::cuda {

/// Makes the device of an operator's tensors current until it ends, and remembers the operator's name for errors that
/// show later. Mostly the device is current, and then there is nothing to undo: one question to the runtime, where the
/// guards of c10 ask at the end again.
class OperatorGuard {
 public:
  OperatorGuard(const char* op, std::optional<c10::Device> device)
      : before_(device.has_value() && device->is_cuda() ? enter(op, device->index()) : -1) {}
  ~OperatorGuard() {
    if (before_ >= 0) [[unlikely]] {
      leave(before_);
    }
  }
  OperatorGuard(const OperatorGuard&) = delete;
  OperatorGuard& operator=(const OperatorGuard&) = delete;

 private:
  /// The device to return to; -1: none.
  static c10::DeviceIndex enter(const char* op, c10::DeviceIndex device);
  static void leave(c10::DeviceIndex device) noexcept;

  const c10::DeviceIndex before_;
};

} // namespace at::native::cuda
