#include <c10/cuda/impl/DeviceMemoryPool.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace c10::cuda::impl {
namespace {

using CachingAllocator::format_size;
using CachingAllocator::Stat;
using CachingAllocator::StatArray;
using CachingAllocator::StatType;

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kSmallSize = 1 * kMiB;
constexpr size_t kLargeSegment = 20 * kMiB;
constexpr size_t kSegmentOfItsOwn = 10 * kMiB;
constexpr size_t kSegmentRounding = 2 * kMiB;
/// Beyond any device, and far from overflow.
constexpr size_t kMaxRequest = size_t{1} << 60;

constexpr size_t round_up(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

size_t block_size(size_t bytes) {
  return std::max(round_up(bytes, kMinBlockSize), kMinBlockSize);
}

size_t segment_size(size_t size) {
  if (size <= kSmallSize) {
    return kSmallSegment;
  }
  return size < kSegmentOfItsOwn ? kLargeSegment : round_up(size, kSegmentRounding);
}

/// Is what the request leaves of the block worth a block? In large segments small rests would only pile up.
bool leaves_a_block(const MemoryBlock& block, size_t size) {
  const size_t rest = block.size - size;
  return block.small ? rest >= kMinBlockSize : rest > kSmallSize;
}

Stat& of_pool(StatArray& stat, const MemoryBlock& block) {
  return stat[static_cast<size_t>(block.small ? StatType::SMALL_POOL : StatType::LARGE_POOL)];
}

Stat& in_all(StatArray& stat) {
  return stat[static_cast<size_t>(StatType::AGGREGATE)];
}

void increase(StatArray& stat, const MemoryBlock& block, size_t amount) {
  in_all(stat).increase(amount);
  of_pool(stat, block).increase(amount);
}

void decrease(StatArray& stat, const MemoryBlock& block, size_t amount) {
  in_all(stat).decrease(amount);
  of_pool(stat, block).decrease(amount);
}

size_t current(const StatArray& stat) {
  return static_cast<size_t>(stat[static_cast<size_t>(StatType::AGGREGATE)].current);
}

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

// ---------------------------------------------------------------------------------------------------------------------
// Requests and releases

void* DeviceMemoryPool::allocate(size_t bytes, void* stream) {
  std::unique_lock<std::mutex> lock(mutex_);
  MemoryBlock* block = bytes <= kMaxRequest ? find_or_reserve(block_size(bytes), stream) : nullptr;
  if (C10_UNLIKELY(block == nullptr)) {
    ++stats_.num_ooms;
    const auto [free, total] = driver_.memory_info();
    const std::string message = out_of_memory_message(bytes, free, total);
    const std::vector<OutOfMemoryObserver> observers = observers_;
    const size_t allocated = current(stats_.allocated_bytes);
    // An observer may ask for statistics or a snapshot.
    lock.unlock();
    for (const OutOfMemoryObserver& observer : observers) {
      observer(device_, allocated, total, free);
    }
    throw OutOfMemoryError({__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, message);
  }
  block->state = MemoryBlock::State::kInUse;
  block->requested = bytes;
  in_use_[block->address] = block;
  increase(stats_.allocation, *block, 1);
  increase(stats_.allocated_bytes, *block, block->size);
  increase(stats_.active, *block, 1);
  increase(stats_.active_bytes, *block, block->size);
  increase(stats_.requested_bytes, *block, bytes);
  return block->address;
}

bool DeviceMemoryPool::release(void* pointer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = in_use_.find(pointer);
  if (found == in_use_.end()) {
    return false;
  }
  MemoryBlock* block = found->second;
  in_use_.erase(found);
  decrease(stats_.allocation, *block, 1);
  decrease(stats_.allocated_bytes, *block, block->size);
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
      found != filters_.end(), "endAllocateToPool: not currently recording to mempool_id (", id.first, ", ", id.second, ")");
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
      found != private_pools_.end() && found->second.holders > 0, "there is no private pool (", id.first, ", ", id.second,
      ") that anybody holds");
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
  StreamBlocks& owner = blocks_of(stream);
  if (MemoryBlock* block = take_best_fit(owner, size)) {
    return block;
  }
  if (MemoryBlock* block = reserve_segment(owner, size, segment_size(size))) {
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
  release_cached_segments();
  if (MemoryBlock* block = reserve_segment(owner, size, segment_size(size))) {
    return block;
  }
  // The last resort: no more than the request needs.
  const size_t least = round_up(size, kSegmentRounding);
  return least < segment_size(size) ? reserve_segment(owner, size, least) : nullptr;
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
  MemoryBlock* block = size <= kSmallSize ? owner.small.best_fit(size) : owner.large.best_fit(size);
  if (block != nullptr) {
    erase_free(block);
    split(block, size);
  }
  return block;
}

/// A block at the start of a new segment; null if the driver or the limit has no room for it.
MemoryBlock* DeviceMemoryPool::reserve_segment(StreamBlocks& owner, size_t size, size_t bytes) {
  if (limit_ && (bytes > *limit_ || current(stats_.reserved_bytes) > *limit_ - bytes)) {
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
  segments_[address] = block;
  ++stats_.num_device_alloc;
  increase(stats_.segment, *block, 1);
  increase(stats_.reserved_bytes, *block, bytes);
  if (!owner.pool->is_common()) {
    increase(stats_.reserved_bytes_by_private_pools[owner.pool->id], *block, bytes);
  }
  split(block, size);
  return block;
}

/// Cuts what the request does not need off a block that is in no list.
void DeviceMemoryPool::split(MemoryBlock* block, size_t size) {
  if (!leaves_a_block(*block, size)) {
    return;
  }
  MemoryBlock* rest = new_block();
  rest->address = block->address + size;
  rest->size = block->size - size;
  rest->owner = block->owner;
  rest->small = block->small;
  rest->previous = block;
  rest->next = block->next;
  if (block->next != nullptr) {
    block->next->previous = rest;
  }
  block->next = rest;
  block->size = size;
  insert_free(rest);
}

/// Nobody uses the block any more.
void DeviceMemoryPool::free_block(MemoryBlock* block) {
  decrease(stats_.active, *block, 1);
  decrease(stats_.active_bytes, *block, block->size);
  decrease(stats_.requested_bytes, *block, block->requested);
  block->requested = 0;
  block->state = MemoryBlock::State::kFree;
  if (block->next != nullptr && block->next->state == MemoryBlock::State::kFree) {
    erase_free(block->next);
    absorb_next(block);
  }
  if (block->previous != nullptr && block->previous->state == MemoryBlock::State::kFree) {
    block = block->previous;
    erase_free(block);
    absorb_next(block);
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

void DeviceMemoryPool::release_cached_segments(MempoolId_t id) {
  for (auto segment = segments_.begin(); segment != segments_.end();) {
    MemoryBlock* block = segment->second;
    const PrivatePool& pool = *block->owner->pool;
    const bool wanted = id == MempoolId_t(0, 0) || id == pool.id;
    if (block->state != MemoryBlock::State::kFree || !block->is_whole_segment() || pool.holders > 0 || !wanted) {
      ++segment;
      continue;
    }
    erase_free(block);
    if (!pool.is_common()) {
      decrease(stats_.reserved_bytes_by_private_pools[pool.id], *block, block->size);
    }
    ++stats_.num_device_free;
    decrease(stats_.segment, *block, 1);
    decrease(stats_.reserved_bytes, *block, block->size);
    driver_.release(block->address, block->size);
    delete_block(block);
    segment = segments_.erase(segment);
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

// ---------------------------------------------------------------------------------------------------------------------
// Limits, statistics, views from outside

void DeviceMemoryPool::set_memory_fraction(double fraction) {
  TORCH_CHECK(
      fraction >= 0 && fraction <= 1, "invalid fraction:", fraction, ". Please set within [0, 1].");
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

CachingDeviceAllocator::DeviceStats DeviceMemoryPool::stats() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stats_;
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
  while (block->previous != nullptr) {
    block = block->previous;
  }
  size_t size = 0;
  for (const MemoryBlock* part = block; part != nullptr; part = part->next) {
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
    SegmentInfo& info = infos.emplace_back();
    info.owner_private_pool_id = owner;
    info.device = device_;
    info.address = reinterpret_cast<size_t>(address);
    info.stream = first->owner->stream;
    info.is_large = !first->small;
    for (const MemoryBlock* block = first; block != nullptr; block = block->next) {
      CachingDeviceAllocator::BlockInfo& part = info.blocks.emplace_back();
      part.size = block->size;
      part.requested_size = block->requested;
      part.allocated = block->state == MemoryBlock::State::kInUse;
      part.active = block->state != MemoryBlock::State::kFree;
      info.total_size += part.size;
      info.requested_size += part.requested_size;
      info.allocated_size += part.allocated ? part.size : 0;
      info.active_size += part.active ? part.size : 0;
    }
  }
  return infos;
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
  text += c10::str(
      "Of the allocated memory ", format_size(allocated), " is allocated by tensors, and ",
      format_size(reserved - allocated), " is reserved by the allocator but unallocated. ");
  text += reserved - allocated >= bytes
      ? "There is enough of the latter, but not in one piece: it lies between blocks in use. Freeing these, or sizes that "
        "repeat, help."
      : "Free tensors that are not needed, or work in smaller pieces.";
  return text;
}

} // namespace c10::cuda::impl
