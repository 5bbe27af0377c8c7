// What is done each time the host has waited for a device: kernels may have left word of a mistake for it.
#pragma once

#include <atomic>

namespace c10::cuda::impl {

/// Called after each wait; may throw. Null until somebody sets it.
inline std::atomic<void (*)()> after_wait_function{nullptr};

inline void after_wait() {
  if (void (*const f)() = after_wait_function.load(std::memory_order_acquire)) {
    f();
  }
}

} // namespace c10::cuda::impl
