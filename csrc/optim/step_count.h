// How many steps an optimizer has taken with a parameter, on the host or on the parameter's device.
#pragma once

#include <aten/core/Tensor.h>

#include <cstdint>

namespace torch::optim::detail {

/// A number that moves to a device when a loss scaler steps the optimizer there: whether a step is skipped is then
/// known to the device alone. To ask for it waits for the device. A number that is set is taken over by the next step
/// on the device, into the same memory, since a graph may count there.
class TORCH_API StepCount {
 public:
  StepCount() = default;
  StepCount(const StepCount& other) : number_(other.get()) {}
  StepCount& operator=(const StepCount& other);

  const int64_t& get() const;
  int64_t& get();

  /// One element of float32 on the device, whose operators change it. The first call must not be within the capture of
  /// a graph.
  const at::Tensor& on_device(c10::Device device);

 private:
  void read() const;

  mutable int64_t number_ = 0;
  mutable int64_t last_read_ = 0; // number_ is another where it has been set since
  at::Tensor there_;
};

} // namespace torch::optim::detail
