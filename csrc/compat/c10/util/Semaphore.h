#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace c10 {

/// Permits that threads take and give back.
class Semaphore {
 public:
  explicit Semaphore(int32_t initial_count = 0) : count_(initial_count) {}

  void release(int32_t n = 1) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      count_ += n;
    }
    for (; n > 0; --n) {
      released_.notify_one();
    }
  }
  /// Waits for a permit.
  void acquire() {
    std::unique_lock<std::mutex> lock(mutex_);
    released_.wait(lock, [this] { return count_ > 0; });
    --count_;
  }
  bool tryAcquire() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (count_ <= 0) {
      return false;
    }
    --count_;
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable released_;
  int64_t count_;
};

} // namespace c10
