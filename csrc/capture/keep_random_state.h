// The state of random numbers, which runs for a recording leave as it was.
#pragma once

#include <aten/core/Context.h>
#include <aten/core/Tensor.h>

#include <mutex>

namespace torch::capture {

/// Puts the state of the CPU's generator back when it dies.
class KeepRandomState {
 public:
  KeepRandomState() : generator_(at::globalContext().defaultGenerator(c10::kCPU)) {
    const std::lock_guard<std::mutex> lock(generator_.mutex());
    state_ = generator_.get_state();
  }
  ~KeepRandomState() {
    const std::lock_guard<std::mutex> lock(generator_.mutex());
    generator_.set_state(state_);
  }
  KeepRandomState(const KeepRandomState&) = delete;
  KeepRandomState& operator=(const KeepRandomState&) = delete;

 private:
  at::Generator generator_;
  at::Tensor state_;
};

} // namespace torch::capture
