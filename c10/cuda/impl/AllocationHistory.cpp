#include <c10/cuda/impl/AllocationHistory.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace c10::cuda::impl {

void AllocationHistory::configure(const Options& options) {
  options_ = options;
  options_.most_entries = std::max<size_t>(options.most_entries, 1);
  if (options.clear || !options.enabled || ring_.size() > options_.most_entries) {
    ring_.clear();
    next_ = 0;
  }
  if (next_ != 0) {
    // A larger ring goes on behind its newest entry.
    std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(next_), ring_.end());
    next_ = 0;
  }
  gather_ = options.enabled ? options.gather : nullptr;
  when_ = options.enabled ? options.when : Level::NEVER;
  active_ = options.enabled || !trackers_.empty();
}

void AllocationHistory::add_tracker(CachingDeviceAllocator::AllocatorTraceTracker tracker) {
  trackers_.push_back(std::move(tracker));
  active_ = true;
}

AllocationHistory::Context AllocationHistory::gather(Level level) const {
  const Gather gather = gather_;
  return gather != nullptr && when_.load() >= level ? gather() : nullptr;
}

void AllocationHistory::add(Entry entry) {
  entry.time_ns_ =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  for (const auto& tracker : trackers_) {
    tracker(entry);
  }
  if (!options_.enabled ||
      std::find(options_.skipped.begin(), options_.skipped.end(), name(entry.action_)) != options_.skipped.end()) {
    return;
  }
  if (options_.when < Level::ALLOC) {
    entry.context_ = nullptr;
  }
  if (ring_.size() < options_.most_entries) {
    ring_.push_back(std::move(entry));
  } else {
    ring_[next_] = std::move(entry);
    next_ = (next_ + 1) % ring_.size();
  }
}

std::vector<AllocationHistory::Entry> AllocationHistory::entries() const {
  std::vector<Entry> all;
  all.reserve(ring_.size());
  const auto oldest = ring_.begin() + static_cast<std::ptrdiff_t>(next_);
  all.insert(all.end(), oldest, ring_.end());
  all.insert(all.end(), ring_.begin(), oldest);
  return all;
}

const char* AllocationHistory::name(Entry::Action action) {
  switch (action) {
    case Entry::ALLOC:
      return "alloc";
    case Entry::FREE_REQUESTED:
      return "free_requested";
    case Entry::FREE_COMPLETED:
      return "free_completed";
    case Entry::SEGMENT_ALLOC:
      return "segment_alloc";
    case Entry::SEGMENT_FREE:
      return "segment_free";
    case Entry::SEGMENT_MAP:
      return "segment_map";
    case Entry::SEGMENT_UNMAP:
      return "segment_unmap";
    case Entry::SNAPSHOT:
      return "snapshot";
    case Entry::OOM:
      return "oom";
  }
  return "unknown";
}

} // namespace c10::cuda::impl
