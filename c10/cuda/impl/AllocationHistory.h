// What a caching allocator did, and where programs asked for it.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace c10::cuda::impl {

/// The last events of an allocator, and those who want to hear of each. Off, it costs an allocation one look at
/// `active`.
class AllocationHistory {
 public:
  using Entry = CachingDeviceAllocator::TraceEntry;
  using Level = CachingDeviceAllocator::RecordContext;
  using Gather = CachingDeviceAllocator::CreateContextFn;
  using Context = std::shared_ptr<GatheredContext>;

  struct Options {
    bool enabled = false;
    Gather gather = nullptr; // may be null: no contexts
    size_t most_entries = 1;
    Level when =
        Level::NEVER; // contexts: never, of blocks in use, of allocations in the history, too, of releases, too
    bool clear = false;
    std::vector<std::string> skipped; // actions that leave no entry: "alloc", "free_requested", ...
  };

  void configure(const Options& options);
  void add_tracker(CachingDeviceAllocator::AllocatorTraceTracker tracker);

  bool active() const {
    return active_.load(std::memory_order_relaxed);
  }
  bool enabled() const {
    return options_.enabled;
  }
  /// Where the caller is, if contexts of that level are wanted. Call it without the allocator's lock: walking the stack
  /// takes long, and may itself allocate.
  Context gather(Level level) const;
  /// Keeps an entry and tells the trackers.
  void add(Entry entry);
  /// Oldest first.
  std::vector<Entry> entries() const;

  /// The name that PyTorch's memory viewer knows.
  static const char* name(Entry::Action action);

 private:
  std::atomic<bool> active_{false};
  std::atomic<Gather> gather_{nullptr};
  std::atomic<Level> when_{Level::NEVER};
  Options options_;
  std::vector<Entry> ring_;
  size_t next_ = 0; // the oldest entry, once the ring is full
  std::vector<CachingDeviceAllocator::AllocatorTraceTracker> trackers_;
};

} // namespace c10::cuda::impl
