// DeviceMemoryPool: segments that grow, and giving memory back piece by piece. See Note [Device memory].
#include <c10/cuda/impl/DeviceMemoryPool.h>
#include <c10/cuda/impl/MemoryStatistics.h>

#include <algorithm>

namespace c10::cuda::impl {
namespace {

using CachingDeviceAllocator::TraceEntry;

constexpr size_t round_up(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// The whole pages in a block: offsets of their beginning and end in the segment.
std::pair<size_t, size_t> whole_pages(const MemoryBlock& block) {
  const ExpandableSegment& segment = *block.expandable;
  const auto begin = static_cast<size_t>(block.address - segment.base);
  return {round_up(begin, segment.page), (begin + block.size) / segment.page * segment.page};
}

} // namespace

/// Null if the device knows no such segments, or has no addresses left.
ExpandableSegment* DeviceMemoryPool::expandable_segment(StreamBlocks& owner, bool small) {
  std::unique_ptr<ExpandableSegment>& segment = owner.expandable[small ? 1 : 0];
  if (segment != nullptr) {
    return segment.get();
  }
  if (!total_) {
    total_ = driver_.memory_info().second;
  }
  const size_t page = small ? kSmallSegment : settings_.large_segment_size;
  // An eighth more than the device has, so that holes do not keep the last of its memory from being used.
  const size_t size = round_up(*total_ + *total_ / 8, page);
  auto* base = static_cast<char*>(driver_.reserve_addresses(size));
  if (base == nullptr) {
    return nullptr;
  }
  segment = std::make_unique<ExpandableSegment>();
  segment->owner = &owner;
  segment->small = small;
  segment->base = base;
  segment->size = size;
  segment->page = page;
  MemoryBlock* gap = new_block();
  gap->address = base;
  gap->size = size;
  gap->owner = &owner;
  gap->small = small;
  gap->state = MemoryBlock::State::kUnmapped;
  gap->expandable = segment.get();
  segment->gaps[base] = gap;
  segments_[base] = gap;
  return segment.get();
}

/// A block of `size` bytes out of the gap and its free neighbours; null if there is no room for its pages.
MemoryBlock* DeviceMemoryPool::expand(ExpandableSegment& segment, MemoryBlock* gap, size_t size) {
  MemoryBlock* const before = MemoryBlock::is_free(gap->previous) ? gap->previous : nullptr;
  const size_t missing = size - (before != nullptr ? before->size : 0);
  const size_t bytes = std::min(round_up(missing, segment.page), gap->size);
  if (!limit_allows(bytes) || !driver_.map(gap->address, bytes, segment.page)) {
    return nullptr;
  }
  MemoryBlock* const after = bytes == gap->size && MemoryBlock::is_free(gap->next) ? gap->next : nullptr;
  for (MemoryBlock* neighbour : {before, after}) {
    if (neighbour != nullptr) {
      erase_free(neighbour);
    }
  }
  segment.gaps.erase(gap->address);
  if (bytes < gap->size) {
    MemoryBlock* rest = cut(gap, bytes);
    segment.gaps[rest->address] = rest;
  }
  gap->state = MemoryBlock::State::kFree;
  ++stats_.num_device_alloc;
  const int joined = (MemoryBlock::has_memory(gap->previous) ? 1 : 0) + (MemoryBlock::has_memory(gap->next) ? 1 : 0);
  count_reserved(*gap, bytes, 1 - joined);
  if (history_.active()) {
    note(TraceEntry::SEGMENT_MAP, *gap, gap->address, bytes);
  }
  if (after != nullptr) {
    absorb_next(gap);
  }
  MemoryBlock* block = gap;
  if (before != nullptr) {
    absorb_next(before);
    block = before;
  }
  split(block, size);
  return block;
}

size_t DeviceMemoryPool::pages_inside(const MemoryBlock& block) {
  const auto [begin, end] = whole_pages(block);
  return begin < end ? (end - begin) / block.expandable->page : 0;
}

/// Gives the whole pages of a free block back. Returns the block behind them.
MemoryBlock* DeviceMemoryPool::unmap_pages(MemoryBlock* block) {
  ExpandableSegment& segment = *block->expandable;
  const auto [begin, end] = whole_pages(*block);
  erase_free(block);
  MemoryBlock* gap = block;
  if (segment.base + begin > block->address) {
    gap = cut(block, begin - static_cast<size_t>(block->address - segment.base));
  }
  MemoryBlock* const tail = end - begin < gap->size ? cut(gap, end - begin) : nullptr;
  gap->state = MemoryBlock::State::kUnmapped;
  const int parts = (MemoryBlock::has_memory(gap->previous) ? 1 : 0) + (MemoryBlock::has_memory(gap->next) ? 1 : 0);
  ++stats_.num_device_free;
  count_returned(*gap, gap->size, 1 - parts);
  if (history_.active()) {
    note(TraceEntry::SEGMENT_UNMAP, *gap, gap->address, gap->size);
  }
  driver_.unmap(gap->address, gap->size, segment.page);
  if (gap != block) {
    insert_free(block);
  }
  if (tail != nullptr) {
    insert_free(tail);
  }
  // Gaps that lie together are one.
  if (gap->next != nullptr && gap->next->state == MemoryBlock::State::kUnmapped) {
    segment.gaps.erase(gap->next->address);
    absorb_next(gap);
  }
  if (gap->previous != nullptr && gap->previous->state == MemoryBlock::State::kUnmapped) {
    gap = gap->previous;
    absorb_next(gap);
  }
  segment.gaps[gap->address] = gap;
  return gap->next;
}

bool DeviceMemoryPool::release_addresses_if_empty(MemoryBlock* first) {
  ExpandableSegment& segment = *first->expandable;
  if (first->state != MemoryBlock::State::kUnmapped || first->next != nullptr) {
    return false;
  }
  driver_.release_addresses(segment.base, segment.size);
  segments_.erase(segment.base);
  delete_block(first);
  segment.owner->expandable[segment.small ? 1 : 0].reset();
  return true;
}

/// Of blocks that are not cut, gives back one that is large enough, or else as many of the largest as are. False if
/// there is none.
bool DeviceMemoryPool::release_oversized(StreamBlocks& owner, size_t size) {
  if (settings_.max_split_size == SIZE_MAX || size < settings_.max_split_size || owner.pool->holders > 0) {
    return false;
  }
  const auto releasable = [&](const MemoryBlock& block) {
    return block.expandable == nullptr && block.is_whole_segment();
  };
  if (MemoryBlock* enough = owner.large.best_fit(size, releasable)) {
    release_segment(enough);
    return true;
  }
  const std::vector<MemoryBlock*> all = owner.large.all();
  size_t released = 0;
  for (auto block = all.rbegin(); block != all.rend() && released < size; ++block) {
    if ((*block)->size >= settings_.max_split_size && releasable(**block)) {
      released += (*block)->size;
      release_segment(*block);
    }
  }
  return released > 0;
}

/// Beyond the threshold, before more is reserved: gives unused large blocks of the common pool back that have been free
/// for longer than the average.
void DeviceMemoryPool::collect_garbage(size_t wanted) {
  if (C10_LIKELY(settings_.garbage_collection_threshold <= 0) || capturing()) {
    return;
  }
  if (!total_) {
    total_ = driver_.memory_info().second;
  }
  const double allowed = static_cast<double>(limit_ ? *limit_ : *total_);
  const auto threshold = static_cast<size_t>(settings_.garbage_collection_threshold * allowed);
  const auto beyond = [&] { return current(stats_.reserved_bytes) + wanted > threshold; };
  if (!beyond()) {
    return;
  }
  std::vector<MemoryBlock*> blocks;
  uint64_t ages = 0;
  for (const auto& [stream, owned] : common_.streams) {
    for (MemoryBlock* block : owned->large.all()) {
      if (block->expandable != nullptr ? pages_inside(*block) != 0 : block->is_whole_segment()) {
        blocks.push_back(block);
        ages += requests_ - block->freed_at;
      }
    }
  }
  std::sort(blocks.begin(), blocks.end(), [](const MemoryBlock* a, const MemoryBlock* b) {
    return a->freed_at < b->freed_at;
  });
  const uint64_t average = blocks.empty() ? 0 : ages / blocks.size();
  for (MemoryBlock* block : blocks) {
    if (!beyond() || requests_ - block->freed_at < average) {
      return;
    }
    block->expandable != nullptr ? static_cast<void>(unmap_pages(block)) : release_segment(block);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Counting

namespace {

void change(StatArray& stat, const MemoryBlock& block, int64_t amount) {
  amount >= 0 ? increase(stat, block, static_cast<size_t>(amount))
              : decrease(stat, block, static_cast<size_t>(-amount));
}

} // namespace

void DeviceMemoryPool::count_reserved(const MemoryBlock& block, size_t bytes, int64_t segments) {
  change(stats_.segment, block, segments);
  increase(stats_.reserved_bytes, block, bytes);
  if (!block.owner->pool->is_common()) {
    increase(stats_.reserved_bytes_by_private_pools[block.owner->pool->id], block, bytes);
  }
}

void DeviceMemoryPool::count_returned(const MemoryBlock& block, size_t bytes, int64_t segments) {
  change(stats_.segment, block, -segments);
  decrease(stats_.reserved_bytes, block, bytes);
  if (!block.owner->pool->is_common()) {
    decrease(stats_.reserved_bytes_by_private_pools[block.owner->pool->id], block, bytes);
  }
}

} // namespace c10::cuda::impl
