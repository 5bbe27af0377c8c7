#pragma once

#include <c10/core/impl/CPUBlock.h>

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace c10::impl {

/// Blocks above kCpuSmallMax, shared by all threads. Free blocks are kept up to a number of bytes, in one list per
/// rounded size and in one list by age; the oldest is dropped first. All lists run through the blocks' headers.
class CPULargeCache {
 public:
  struct Stats {
    int64_t bytes_in_use = 0;
    int64_t bytes_cached = 0;
    uint64_t allocations = 0;
    uint64_t releases = 0;
    uint64_t system_allocations = 0;
  };

  /// A block of at least `bytes`, from the cache or the system; null if the system has no more.
  CPUBlock* take(size_t bytes);
  void put(CPUBlock* block);
  /// Frees everything that is cached; returns the number of bytes.
  size_t release();

  size_t limit();
  void set_limit(size_t bytes);
  Stats stats();

 private:
  // Eight sizes per power of two, from 64 KiB to 2^47.
  static constexpr size_t kClasses = 8 * 31;

  size_t limit_locked();
  void unlink(CPUBlock* block);
  // Takes blocks off, oldest first, until at most `bytes` are cached. Gives them as a chain over `next`, for freeing
  // when the lock is released.
  CPUBlock* trim(size_t bytes);

  std::mutex mutex_;
  CPUBlock* by_class_[kClasses] = {};
  CPUBlock* oldest_ = nullptr;
  CPUBlock* newest_ = nullptr;
  size_t limit_ = 0;
  bool limit_known_ = false;
  Stats stats_;
};

} // namespace c10::impl
