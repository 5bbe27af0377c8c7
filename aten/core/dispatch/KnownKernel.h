// How the shortest ways of generated functions know that they stand for the kernel that would be called; see Note [Fast
// path of calls].
#pragma once

#include <aten/core/boxing/KernelFunction.h>

#include <atomic>

namespace c10::impl {

/// The object of one of the library's own kernels, once its code has been looked at. Such objects live for ever: who
/// meets one again knows its code without another look.
class KnownKernel {
 public:
  void remember(const KernelFunction* kernel) noexcept {
    kernel_.store(kernel, std::memory_order_relaxed);
  }
  /// False for null.
  bool is(const KernelFunction* kernel) const noexcept {
    return kernel_.load(std::memory_order_relaxed) == kernel;
  }

 private:
  std::atomic<const void*> kernel_{this}; // which is no kernel
};

} // namespace c10::impl
