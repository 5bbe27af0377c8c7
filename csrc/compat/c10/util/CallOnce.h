#pragma once

#include <c10/macros/Macros.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

namespace c10 {

/// Like std::once_flag; the check of a flag that is already set is one load. A call that throws leaves the flag unset.
class once_flag {
 public:
  once_flag() noexcept = default;
  C10_DISABLE_COPY_AND_ASSIGN(once_flag);

 private:
  template <typename F, typename... Args>
  friend void call_once(once_flag& flag, F&& f, Args&&... args);

  template <typename F, typename... Args>
  void call_once_slow(F&& f, Args&&... args) {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (!init_.load(std::memory_order_relaxed)) {
      std::invoke(std::forward<F>(f), std::forward<Args>(args)...);
      init_.store(true, std::memory_order_release);
    }
  }

  std::mutex mutex_;
  std::atomic<bool> init_{false};
};

template <typename F, typename... Args>
inline void call_once(once_flag& flag, F&& f, Args&&... args) {
  if (C10_LIKELY(flag.init_.load(std::memory_order_acquire))) {
    return;
  }
  flag.call_once_slow(std::forward<F>(f), std::forward<Args>(args)...);
}

} // namespace c10
