// DeviceMemoryPool: limits, statistics, history, and what it tells of itself.
#include <c10/cuda/impl/DeviceMemoryPool.h>
#include <c10/cuda/impl/MemoryStatistics.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <utility>

namespace c10::cuda::impl {
namespace {

using CachingAllocator::format_size;
using CachingDeviceAllocator::TraceEntry;

template <class Function>
void for_each_stat(CachingDeviceAllocator::DeviceStats& stats, Function f) {
  for (StatArray* array :
       {&stats.allocation, &stats.segment, &stats.active, &stats.inactive_split, &stats.allocated_bytes,
        &stats.reserved_bytes, &stats.active_bytes, &stats.inactive_split_bytes, &stats.requested_bytes}) {
    std::for_each(array->begin(), array->end(), f);
  }
  f(stats.oversize_allocations);
  f(stats.oversize_segments);
}

} // namespace

void DeviceMemoryPool::set_memory_fraction(double fraction) {
  TORCH_CHECK(fraction >= 0 && fraction <= 1, "invalid fraction:", fraction, ". Please set within [0, 1].");
  const size_t total = driver_.memory_info().second;
  const std::lock_guard<std::mutex> lock(mutex_);
  fraction_ = fraction;
  limit_.reset();
  if (fraction < 1) {
    limit_ = static_cast<size_t>(fraction * static_cast<double>(total));
  }
}

double DeviceMemoryPool::memory_fraction() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return fraction_;
}

void DeviceMemoryPool::attach_observer(OutOfMemoryObserver observer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  observers_.push_back(std::move(observer));
}

void DeviceMemoryPool::configure(const Settings& settings) {
  const std::lock_guard<std::mutex> lock(mutex_);
  settings_ = settings;
}

void DeviceMemoryPool::record_history(const AllocationHistory::Options& options) {
  const std::lock_guard<std::mutex> lock(mutex_);
  history_.configure(options);
}

bool DeviceMemoryPool::records_history() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return history_.enabled();
}

void DeviceMemoryPool::attach_tracker(CachingDeviceAllocator::AllocatorTraceTracker tracker) {
  const std::lock_guard<std::mutex> lock(mutex_);
  history_.add_tracker(std::move(tracker));
}

std::vector<TraceEntry> DeviceMemoryPool::history() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return history_.entries();
}

void DeviceMemoryPool::note(
    TraceEntry::Action action,
    const MemoryBlock& block,
    const void* address,
    size_t bytes,
    const std::shared_ptr<GatheredContext>& context) {
  history_.add(
      {action, device_, reinterpret_cast<size_t>(address), bytes, block.owner->stream, block.owner->pool->id, 0,
       context});
}

CachingDeviceAllocator::DeviceStats DeviceMemoryPool::stats() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  DeviceStats stats = stats_;
  stats.max_split_size = settings_.max_split_size == SIZE_MAX ? -1 : static_cast<int64_t>(settings_.max_split_size);
  return stats;
}

void DeviceMemoryPool::reset_accumulated_stats() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for_each_stat(stats_, [](Stat& stat) { stat.reset_accumulated(); });
  stats_.num_alloc_retries = 0;
  stats_.num_ooms = 0;
  stats_.num_sync_all_streams = 0;
  stats_.num_device_alloc = 0;
  stats_.num_device_free = 0;
}

void DeviceMemoryPool::reset_peak_stats() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for_each_stat(stats_, [](Stat& stat) { stat.reset_peak(); });
}

std::pair<size_t, size_t> DeviceMemoryPool::totals() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {current(stats_.allocated_bytes), current(stats_.reserved_bytes)};
}

size_t DeviceMemoryPool::largest_free_block() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  size_t largest = 0;
  for (const auto& [stream, blocks] : common_.streams) {
    largest = std::max({largest, blocks->small.largest(), blocks->large.largest()});
  }
  return largest;
}

std::optional<std::pair<void*, size_t>> DeviceMemoryPool::segment_of(const void* pointer) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = in_use_.find(const_cast<void*>(pointer));
  if (found == in_use_.end()) {
    return std::nullopt;
  }
  const MemoryBlock* block = found->second;
  while (MemoryBlock::has_memory(block->previous)) {
    block = block->previous;
  }
  size_t size = 0;
  for (const MemoryBlock* part = block; MemoryBlock::has_memory(part); part = part->next) {
    size += part->size;
  }
  return std::pair<void*, size_t>(block->address, size);
}

std::vector<CachingDeviceAllocator::SegmentInfo> DeviceMemoryPool::snapshot(MempoolId_t id) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<SegmentInfo> infos;
  infos.reserve(segments_.size());
  for (const auto& [address, first] : segments_) {
    const MempoolId_t owner = first->owner->pool->id;
    if (id != MempoolId_t(0, 0) && owner != id) {
      continue;
    }
    // Of an expandable segment, each run of pages with memory counts as one.
    SegmentInfo* info = nullptr;
    for (const MemoryBlock* block = first; block != nullptr; block = block->next) {
      if (!MemoryBlock::has_memory(block)) {
        info = nullptr;
        continue;
      }
      if (info == nullptr) {
        info = &infos.emplace_back();
        info->owner_private_pool_id = owner;
        info->device = device_;
        info->address = reinterpret_cast<size_t>(block->address);
        info->stream = block->owner->stream;
        info->is_large = !block->small;
        info->is_expandable = block->expandable != nullptr;
      }
      CachingDeviceAllocator::BlockInfo& part = info->blocks.emplace_back();
      part.size = block->size;
      part.requested_size = block->requested;
      part.allocated = block->state == MemoryBlock::State::kInUse;
      part.active = block->state != MemoryBlock::State::kFree;
      part.gc_counter =
          part.active ? 0 : static_cast<int32_t>(std::min<uint64_t>(requests_ - block->freed_at, INT32_MAX));
      part.context_when_allocated = block->context;
      info->total_size += part.size;
      info->requested_size += part.requested_size;
      info->allocated_size += part.allocated ? part.size : 0;
      info->active_size += part.active ? part.size : 0;
    }
  }
  return infos;
}

/// Bytes in use in pools of graphs.
size_t DeviceMemoryPool::held_by_private_pools() const {
  size_t bytes = 0;
  for (const auto& [address, block] : in_use_) {
    bytes += block->owner->pool->is_common() ? 0 : block->size;
  }
  return bytes;
}

std::string DeviceMemoryPool::out_of_memory_message(size_t bytes, size_t free, size_t total) const {
  const size_t allocated = current(stats_.allocated_bytes);
  const size_t reserved = current(stats_.reserved_bytes);
  std::string text = c10::str(
      "CUDA out of memory. Tried to allocate ", format_size(bytes), ". GPU ", static_cast<int>(device_),
      " has a total capacity of ", format_size(total), " of which ", format_size(free), " is free. ");
  if (limit_) {
    text += c10::str(format_size(*limit_), " allowed; ");
  }
  text += c10::str("Of the allocated memory ", format_size(allocated), " is allocated by tensors, ");
  if (const size_t in_graphs = held_by_private_pools(); in_graphs != 0) {
    text += c10::str("with ", format_size(in_graphs), " allocated in private pools (e.g., CUDA Graphs), ");
  }
  text += c10::str("and ", format_size(reserved - allocated), " is reserved by the allocator but unallocated. ");
  text += reserved - allocated >= bytes && !settings_.expandable_segments
      ? "There is enough of the latter, but cut into segments: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True avoids "
        "that."
      : reserved - allocated >= bytes ? "There is enough of the latter, but not in one piece: it lies between blocks "
                                        "in use. Freeing these, or sizes that "
                                        "repeat, help."
                                      : "Free tensors that are not needed, or work in smaller pieces.";
  return text;
}

} // namespace c10::cuda::impl
