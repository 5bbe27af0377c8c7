#include <c10/cuda/impl/DeviceMemoryPool.h>

#include <c10/cuda/impl/MemoryStatistics.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace c10::cuda::impl {
namespace {

using CachingDeviceAllocator::TraceEntry;
using Level = AllocationHistory::Level;

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kSmallSize = 1 * kMiB;
constexpr size_t kSegmentOfItsOwn = 10 * kMiB;
constexpr size_t kSegmentRounding = 2 * kMiB;
/// Beyond any device, and far from overflow.
constexpr size_t kMaxRequest = size_t{1} << 60;

constexpr size_t round_up(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

} // namespace

size_t DeviceMemoryPool::block_size(size_t bytes) const {
  const size_t divisions = settings_.divisions_for(bytes);
  size_t unit = kMinBlockSize;
  if (divisions > 1 && bytes > kMinBlockSize * divisions) {
    unit = std::bit_floor(bytes) / divisions;
  }
  return std::max(round_up(bytes, unit), kMinBlockSize);
}

size_t DeviceMemoryPool::segment_size(size_t size) const {
  if (size <= kSmallSize) {
    return kSmallSegment;
  }
  return size < kSegmentOfItsOwn ? settings_.large_segment_size : round_up(size, kSegmentRounding);
}

/// Is what the request leaves of the block worth a block? In large segments of one piece small rests would only pile
/// up.
bool DeviceMemoryPool::leaves_a_block(const MemoryBlock& block, size_t size) const {
  const size_t rest = block.size - size;
  if (block.small || block.expandable != nullptr) {
    return rest >= kMinBlockSize;
  }
  return rest > kSmallSize && size < settings_.max_split_size && block.size < settings_.max_split_size;
}

bool DeviceMemoryPool::limit_allows(size_t bytes) const {
  return !limit_ || (bytes <= *limit_ && current(stats_.reserved_bytes) <= *limit_ - bytes);
}

// ---------------------------------------------------------------------------------------------------------------------
// Requests and releases

void* DeviceMemoryPool::allocate(size_t bytes, void* stream) {
  std::shared_ptr<GatheredContext> context = C10_UNLIKELY(history_.active()) ? history_.gather(Level::STATE) : nullptr;
  std::unique_lock<std::mutex> lock(mutex_);
  MemoryBlock* block = bytes <= kMaxRequest ? find_or_reserve(block_size(bytes), stream) : nullptr;
  if (C10_UNLIKELY(block == nullptr)) {
    ++stats_.num_ooms;
    const auto [free, total] = driver_.memory_info();
    const std::string message = out_of_memory_message(bytes, free, total);
    const std::vector<OutOfMemoryObserver> observers = observers_;
    const size_t allocated = current(stats_.allocated_bytes);
    if (history_.active()) {
      history_.add({TraceEntry::OOM, device_, free, bytes, stream, {0, 0}, 0, std::move(context)});
    }
    // An observer may ask for statistics or a snapshot.
    lock.unlock();
    for (const OutOfMemoryObserver& observer : observers) {
      observer(device_, allocated, total, free);
    }
    throw OutOfMemoryError({__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, message);
  }
  block->state = MemoryBlock::State::kInUse;
  block->requested = bytes;
  block->context = std::move(context);
  in_use_[block->address] = block;
  increase(stats_.allocation, *block, 1);
  increase(stats_.allocated_bytes, *block, block->size);
  increase(stats_.active, *block, 1);
  increase(stats_.active_bytes, *block, block->size);
  increase(stats_.requested_bytes, *block, bytes);
  if (C10_UNLIKELY(block->oversize)) {
    stats_.oversize_allocations.increase(1);
  }
  if (C10_UNLIKELY(history_.active())) {
    note(TraceEntry::ALLOC, *block, block->address, bytes, block->context);
  }
  return block->address;
}

bool DeviceMemoryPool::release(void* pointer) {
  const std::shared_ptr<GatheredContext> context =
      C10_UNLIKELY(history_.active()) ? history_.gather(Level::ALL) : nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = in_use_.find(pointer);
  if (found == in_use_.end()) {
    return false;
  }
  MemoryBlock* block = found->second;
  in_use_.erase(found);
  decrease(stats_.allocation, *block, 1);
  decrease(stats_.allocated_bytes, *block, block->size);
  if (C10_UNLIKELY(block->oversize)) {
    stats_.oversize_allocations.decrease(1);
  }
  if (C10_UNLIKELY(history_.active())) {
    note(TraceEntry::FREE_REQUESTED, *block, block->address, block->requested, context);
  }
  if (C10_LIKELY(block->other_streams.empty())) {
    free_block(block);
  } else if (capturing()) {
    block->state = MemoryBlock::State::kWaiting;
    released_in_capture_.push_back(block);
  } else {
    wait_for_streams(block);
  }
  return true;
}

bool DeviceMemoryPool::record_stream(void* pointer, DeviceStream stream) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = in_use_.find(pointer);
  if (found == in_use_.end()) {
    return false;
  }
  MemoryBlock* block = found->second;
  std::vector<DeviceStream>& streams = block->other_streams;
  if (stream != DeviceStream{device_, block->owner->stream} &&
      std::find(streams.begin(), streams.end(), stream) == streams.end()) {
    streams.push_back(stream);
  }
  return true;
}

void DeviceMemoryPool::empty_cache(MempoolId_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!capturing()) {
    wait_for_events();
    release_cached_segments(id);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Private pools

void DeviceMemoryPool::begin_allocate_to_pool(MempoolId_t id, std::function<bool(void*)> filter) {
  TORCH_CHECK(id != MempoolId_t(0, 0), "beginAllocateToPool: (0, 0) names the common pool, not a private one");
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [open, f] : filters_) {
    TORCH_CHECK(open != id, "beginAllocateToPool: already recording to mempool_id (", id.first, ", ", id.second, ")");
  }
  poll_events();
  PrivatePool& pool = private_pools_[id];
  pool.id = id;
  ++pool.holders;
  filters_.emplace_back(id, std::move(filter));
}

void DeviceMemoryPool::end_allocate_to_pool(MempoolId_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(filters_.begin(), filters_.end(), [&](const auto& open) { return open.first == id; });
  TORCH_CHECK(
      found != filters_.end(), "endAllocateToPool: not currently recording to mempool_id (", id.first, ", ", id.second,
      ")");
  filters_.erase(found);
}

void DeviceMemoryPool::release_pool(MempoolId_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  --held_pool(id).holders;
  forget_pool_if_empty(id);
}

int DeviceMemoryPool::pool_holders(MempoolId_t id) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = private_pools_.find(id);
  return found != private_pools_.end() ? found->second.holders : 0;
}

PrivatePool& DeviceMemoryPool::held_pool(MempoolId_t id) {
  const auto found = private_pools_.find(id);
  TORCH_CHECK(
      found != private_pools_.end() && found->second.holders > 0, "there is no private pool (", id.first, ", ",
      id.second, ") that anybody holds");
  return found->second;
}

/// No holder, no segment: nothing points to it any more.
void DeviceMemoryPool::forget_pool_if_empty(MempoolId_t id) {
  const auto found = private_pools_.find(id);
  if (found == private_pools_.end() || found->second.holders > 0) {
    return;
  }
  for (const auto& [address, first] : segments_) {
    if (first->owner->pool == &found->second) {
      return;
    }
  }
  private_pools_.erase(found);
  stats_.reserved_bytes_by_private_pools.erase(id);
}

// ---------------------------------------------------------------------------------------------------------------------
// Blocks

MemoryBlock* DeviceMemoryPool::find_or_reserve(size_t size, void* stream) {
  poll_events();
  ++requests_;
  StreamBlocks& owner = blocks_of(stream);
  if (MemoryBlock* block = take_best_fit(owner, size)) {
    return block;
  }
  collect_garbage(size);
  if (MemoryBlock* block = reserve(owner, size)) {
    return block;
  }
  if (capturing()) {
    return nullptr; // neither waiting nor giving memory back is allowed now
  }
  ++stats_.num_alloc_retries;
  wait_for_events();
  if (MemoryBlock* block = take_best_fit(owner, size)) {
    return block;
  }
  if (release_oversized(owner, size)) {
    if (MemoryBlock* block = reserve(owner, size)) {
      return block;
    }
  }
  release_cached_segments();
  if (MemoryBlock* block = reserve(owner, size)) {
    return block;
  }
  // The last resort: no more than the request needs.
  const size_t least = round_up(size, kSegmentRounding);
  return settings_.expandable_segments || least < segment_size(size) ? reserve_segment(owner, size, least) : nullptr;
}

StreamBlocks& DeviceMemoryPool::blocks_of(void* stream) {
  for (const auto& [id, admits] : filters_) {
    if (admits(stream)) {
      return blocks_in(held_pool(id), stream);
    }
  }
  if (last_stream_ == nullptr || last_stream_->stream != stream) {
    last_stream_ = &blocks_in(common_, stream);
  }
  return *last_stream_;
}

StreamBlocks& DeviceMemoryPool::blocks_in(PrivatePool& pool, void* stream) {
  std::unique_ptr<StreamBlocks>& blocks = pool.streams[stream];
  if (blocks == nullptr) {
    blocks = std::make_unique<StreamBlocks>(pool, stream);
  }
  return *blocks;
}

MemoryBlock* DeviceMemoryPool::take_best_fit(StreamBlocks& owner, size_t size) {
  MemoryBlock* block = nullptr;
  if (size <= kSmallSize) {
    block = owner.small.best_fit(size);
  } else if (C10_LIKELY(settings_.max_split_size == SIZE_MAX)) {
    block = owner.large.best_fit(size);
  } else {
    // A block that is not cut is too good for a small request, and for a large one if much of it would lie idle.
    const size_t most = settings_.max_split_size;
    block = owner.large.best_fit(size, [&](const MemoryBlock& b) {
      return b.expandable != nullptr ||
          (size < most ? b.size < most : b.size < size + settings_.max_non_split_rounding_size);
    });
  }
  if (block != nullptr) {
    erase_free(block);
    split(block, size);
  }
  return block;
}

/// A block in memory that comes from the driver; null if the driver or the limit has no room for it.
MemoryBlock* DeviceMemoryPool::reserve(StreamBlocks& owner, size_t size) {
  if (settings_.expandable_segments) {
    if (ExpandableSegment* segment = expandable_segment(owner, size <= kSmallSize)) {
      for (const auto& [address, gap] : segment->gaps) {
        const size_t before = MemoryBlock::is_free(gap->previous) ? gap->previous->size : 0;
        const size_t after = MemoryBlock::is_free(gap->next) ? gap->next->size : 0;
        if (before + gap->size + after >= size) {
          return expand(*segment, gap, size);
        }
      }
    }
  }
  return reserve_segment(owner, size, segment_size(size));
}

/// A block at the start of a new segment of one piece.
MemoryBlock* DeviceMemoryPool::reserve_segment(StreamBlocks& owner, size_t size, size_t bytes) {
  if (!limit_allows(bytes)) {
    return nullptr;
  }
  auto* address = static_cast<char*>(driver_.allocate(bytes));
  if (address == nullptr) {
    return nullptr;
  }
  MemoryBlock* block = new_block();
  block->address = address;
  block->size = bytes;
  block->owner = &owner;
  block->small = size <= kSmallSize;
  block->oversize = bytes >= settings_.max_split_size;
  segments_[address] = block;
  ++stats_.num_device_alloc;
  count_reserved(*block, bytes, 1);
  if (block->oversize) {
    stats_.oversize_segments.increase(1);
  }
  if (history_.active()) {
    note(TraceEntry::SEGMENT_ALLOC, *block, address, bytes);
  }
  split(block, size);
  return block;
}

/// Cuts what the request does not need off a block that is in no list.
void DeviceMemoryPool::split(MemoryBlock* block, size_t size) {
  if (leaves_a_block(*block, size)) {
    insert_free(cut(block, size));
  }
}

/// Makes what is behind the first `size` bytes a block of the same kind.
MemoryBlock* DeviceMemoryPool::cut(MemoryBlock* block, size_t size) {
  MemoryBlock* rest = new_block();
  rest->address = block->address + size;
  rest->size = block->size - size;
  rest->owner = block->owner;
  rest->small = block->small;
  rest->state = block->state;
  rest->expandable = block->expandable;
  rest->freed_at = block->freed_at;
  rest->previous = block;
  rest->next = block->next;
  if (block->next != nullptr) {
    block->next->previous = rest;
  }
  block->next = rest;
  block->size = size;
  return rest;
}

/// Nobody uses the block any more.
void DeviceMemoryPool::free_block(MemoryBlock* block) {
  if (C10_UNLIKELY(history_.active())) {
    note(TraceEntry::FREE_COMPLETED, *block, block->address, block->requested);
  }
  decrease(stats_.active, *block, 1);
  decrease(stats_.active_bytes, *block, block->size);
  decrease(stats_.requested_bytes, *block, block->requested);
  block->requested = 0;
  block->context = nullptr;
  block->freed_at = requests_;
  block->state = MemoryBlock::State::kFree;
  if (MemoryBlock::is_free(block->next)) {
    erase_free(block->next);
    absorb_next(block);
  }
  if (MemoryBlock::is_free(block->previous)) {
    block = block->previous;
    erase_free(block);
    absorb_next(block);
    block->freed_at = requests_;
  }
  insert_free(block);
}

void DeviceMemoryPool::absorb_next(MemoryBlock* block) {
  MemoryBlock* next = block->next;
  block->size += next->size;
  block->next = next->next;
  if (block->next != nullptr) {
    block->next->previous = block;
  }
  delete_block(next);
}

void DeviceMemoryPool::insert_free(MemoryBlock* block) {
  if (!block->is_whole_segment()) {
    increase(stats_.inactive_split, *block, 1);
    increase(stats_.inactive_split_bytes, *block, block->size);
  }
  block->small ? block->owner->small.insert(block) : block->owner->large.insert(block);
}

/// Before its neighbours change: insert_free looked at them.
void DeviceMemoryPool::erase_free(MemoryBlock* block) {
  if (!block->is_whole_segment()) {
    decrease(stats_.inactive_split, *block, 1);
    decrease(stats_.inactive_split_bytes, *block, block->size);
  }
  block->small ? block->owner->small.erase(block) : block->owner->large.erase(block);
}

/// A free block that is a segment goes back to the driver.
void DeviceMemoryPool::release_segment(MemoryBlock* block) {
  erase_free(block);
  ++stats_.num_device_free;
  count_returned(*block, block->size, 1);
  if (block->oversize) {
    stats_.oversize_segments.decrease(1);
  }
  if (history_.active()) {
    note(TraceEntry::SEGMENT_FREE, *block, block->address, block->size);
  }
  driver_.release(block->address, block->size);
  segments_.erase(block->address);
  delete_block(block);
}

void DeviceMemoryPool::release_cached_segments(MempoolId_t id) {
  for (auto segment = segments_.begin(); segment != segments_.end();) {
    MemoryBlock* block = segment->second;
    ++segment;
    const PrivatePool& pool = *block->owner->pool;
    if (pool.holders > 0 || (id != MempoolId_t(0, 0) && id != pool.id)) {
      continue;
    }
    if (block->expandable == nullptr) {
      if (MemoryBlock::is_free(block) && block->is_whole_segment()) {
        release_segment(block);
      }
      continue;
    }
    for (MemoryBlock* part = block; part != nullptr;) {
      part = MemoryBlock::is_free(part) && pages_inside(*part) != 0 ? unmap_pages(part) : part->next;
    }
    release_addresses_if_empty(block);
  }
  for (auto pool = private_pools_.begin(); pool != private_pools_.end();) {
    const MempoolId_t next = pool->first;
    ++pool;
    forget_pool_if_empty(next);
  }
}

MemoryBlock* DeviceMemoryPool::new_block() {
  if (spare_blocks_.empty()) {
    return &block_storage_.emplace_back();
  }
  MemoryBlock* block = spare_blocks_.back();
  spare_blocks_.pop_back();
  *block = MemoryBlock();
  return block;
}

void DeviceMemoryPool::delete_block(MemoryBlock* block) {
  spare_blocks_.push_back(block);
}

// ---------------------------------------------------------------------------------------------------------------------
// Blocks that other streams use

void DeviceMemoryPool::wait_for_streams(MemoryBlock* block) {
  block->state = MemoryBlock::State::kWaiting;
  for (const DeviceStream stream : block->other_streams) {
    if (void* event = driver_.record(stream)) {
      events_[stream].emplace_back(event, block);
      ++block->events;
    }
  }
  block->other_streams.clear();
  if (block->events == 0) {
    free_block(block);
  }
}

void DeviceMemoryPool::event_passed(MemoryBlock* block, void* event) {
  driver_.recycle(event);
  if (--block->events == 0) {
    free_block(block);
  }
}

void DeviceMemoryPool::record_postponed_events() {
  const std::vector<MemoryBlock*> blocks = std::move(released_in_capture_);
  released_in_capture_.clear();
  for (MemoryBlock* block : blocks) {
    wait_for_streams(block);
  }
}

void DeviceMemoryPool::poll_events() {
  if (capturing()) {
    return;
  }
  if (C10_UNLIKELY(!released_in_capture_.empty())) {
    record_postponed_events();
  }
  for (auto stream = events_.begin(); stream != events_.end();) {
    auto& queue = stream->second;
    while (!queue.empty() && driver_.done(queue.front().first)) {
      const auto [event, block] = queue.front();
      queue.pop_front();
      event_passed(block, event);
    }
    stream = queue.empty() ? events_.erase(stream) : std::next(stream);
  }
}

void DeviceMemoryPool::wait_for_events() {
  ++stats_.num_sync_all_streams;
  record_postponed_events();
  for (auto& [stream, queue] : events_) {
    for (const auto& [event, block] : queue) {
      driver_.wait(event);
      event_passed(block, event);
    }
  }
  events_.clear();
}

} // namespace c10::cuda::impl
