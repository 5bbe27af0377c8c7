#pragma once

#include <c10/core/SmallPool.h>

#include <mutex>

// Note [Small runs]
// The pool's memory comes from the system in runs: aligned pieces of kRunBytes, each cut into blocks of one class as
// they are asked for. Neighbours stand without gaps, where aligned allocations one by one lose more than a hundred
// bytes each. A block's address leads to its run, which counts what came back; a run without blocks in use serves any
// class, and goes to the system when more than kSpareRuns of them wait.

namespace c10::impl {

/// Where threads fetch blocks of the small pool and bring them back. Trivially destructible, so it outlives every
/// static and thread-local object.
class SmallRuns {
 public:
  static constexpr size_t kRunBytes = size_t{256} << 10;
  static constexpr size_t kSpareRuns = 64;

  /// Gives a chain of 1 to `count` blocks of a class. Throws std::bad_alloc.
  SmallPoolBlock* take(size_t index, size_t count);
  void put(SmallPoolBlock* chain) noexcept;
  /// Returns the waiting runs to the system; gives the number of bytes.
  size_t release() noexcept;

 private:
  struct Run;

  static Run* map_run();
  Run* fresh_run(size_t index);
  void put_block(SmallPoolBlock* block, Run*& dropped) noexcept;

  std::mutex mutex_;
  Run* open_[kSmallPoolClasses] = {}; // runs with free blocks, of each class
  Run* spare_ = nullptr;
  size_t spare_count_ = 0;
};

} // namespace c10::impl
