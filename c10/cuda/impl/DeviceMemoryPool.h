// The caching allocator of one device, free of CUDA: it reaches the device through an interface that tests imitate.
#pragma once

#include <c10/core/AllocatorConfig.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Device.h>
#include <c10/cuda/impl/AllocationHistory.h>
#include <c10/cuda/impl/FreeBlocks.h>
#include <c10/cuda/impl/StreamEvents.h>
#include <c10/util/flat_hash_map.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace c10::cuda::impl {

// Note [Device memory]
// The driver's allocation and release take long, and its release waits for the whole device. So memory comes from the
// driver in segments, which are cut into blocks, and blocks that a program releases are kept.
// - Requests are rounded up to 512 bytes. Up to 1 MiB they are cut from segments of 2 MiB; below 10 MiB from segments
// of
//   20 MiB; larger ones get a segment of their own, a multiple of 2 MiB. The two kinds of segments are kept apart, or
//   small blocks that live long would split the large segments.
// - A segment may be expandable: a range of addresses, larger than the device's memory, in which the driver puts memory
//   behind one page after the other (2 MiB for small blocks, as large as a segment otherwise). Each stream has two of
//   them. A request that nothing fits extends the free block before a gap, so what lies together is not cut into
//   segments; and each page that no block in use touches can go back. Without support by the device, or with its
//   addresses used up, segments are as above.
// - A request takes the smallest free block that fits, cuts off what is too much, and a released block is merged with
//   its free neighbours.
// - Blocks belong to the stream they were allocated for. Work on one stream runs in order, so a block may be given out
// again
//   while the old work is still queued: the new work comes after it. A block used on another stream, too, is told so by
//   record_stream; when it is released, an event is recorded there, and the block is free once the event has passed.
// - When the driver has no room: wait for these events, give all segments without a block in use back, try again, and
//   only then fail. Failing changes nothing else.
// - A private pool has segments of its own, which stay while anybody holds the pool: a captured graph uses the same
//   addresses at each replay, so the blocks of its capture must not go to others in between. Requests go to a private
//   pool from begin_allocate_to_pool to end_allocate_to_pool, those of the streams that its filter admits. Meanwhile a
//   capture may be underway, which forbids to ask for events: what would wait for one waits for the end of that, too.

/// What the pool asks of the device.
class DeviceMemoryDriver : public StreamEvents {
 public:
  /// Null if there is no room; throws for other failures.
  virtual void* allocate(size_t bytes) = 0;
  virtual void release(void* address, size_t bytes) noexcept = 0;
  /// Addresses without memory; null if the device cannot do that.
  virtual void* reserve_addresses(size_t /*bytes*/) {
    return nullptr;
  }
  virtual void release_addresses(void* /*address*/, size_t /*bytes*/) noexcept {}
  /// Puts memory behind reserved addresses, page by page. False, and nothing is changed, if there is no room; throws
  /// for other failures.
  virtual bool map(void* /*address*/, size_t /*bytes*/, size_t /*page*/) {
    return false;
  }
  /// Waits for all work of the device and gives the pages back.
  virtual void unmap(void* /*address*/, size_t /*bytes*/, size_t /*page*/) noexcept {}
  /// Bytes (free, in all).
  virtual std::pair<size_t, size_t> memory_info() = 0;
};

struct StreamBlocks;
struct MemoryBlock;

/// A range of addresses with memory behind some of its pages. Blocks tile it; those without memory are kept here.
struct ExpandableSegment {
  StreamBlocks* owner = nullptr;
  bool small = false;
  char* base = nullptr;
  size_t size = 0;
  size_t page = 0;
  std::map<char*, MemoryBlock*> gaps; // by address
};

/// What StreamBlocks belong to: the common pool, whose id is (0, 0), or a private one.
struct PrivatePool {
  MempoolId_t id;
  int holders = 0;
  std::map<void*, std::unique_ptr<StreamBlocks>> streams;

  bool is_common() const {
    return id == MempoolId_t(0, 0);
  }
};

/// A part of a segment.
struct MemoryBlock {
  /// kWaiting: released, other streams may still use it. kUnmapped: addresses of an expandable segment.
  enum class State : uint8_t { kFree, kInUse, kWaiting, kUnmapped };

  char* address = nullptr;
  size_t size = 0;
  size_t requested = 0;
  StreamBlocks* owner = nullptr;
  bool small = false;
  bool oversize = false; // the segment was larger than max_split_size
  State state = State::kFree;
  int events = 0; // to wait for
  MemoryBlock* previous = nullptr; // neighbours in the segment
  MemoryBlock* next = nullptr;
  MemoryBlock* list_previous = nullptr; // in SmallFreeBlocks
  MemoryBlock* list_next = nullptr;
  ExpandableSegment* expandable = nullptr;
  uint64_t freed_at = 0; // by number of requests
  std::vector<DeviceStream> other_streams;
  std::shared_ptr<GatheredContext> context; // where it was asked for

  static bool has_memory(const MemoryBlock* block) {
    return block != nullptr && block->state != State::kUnmapped;
  }
  static bool is_free(const MemoryBlock* block) {
    return block != nullptr && block->state == State::kFree;
  }
  /// Has it all the memory from the driver that lies together?
  bool is_whole_segment() const {
    return !has_memory(previous) && !has_memory(next);
  }
};

/// The free blocks of a stream.
struct StreamBlocks {
  StreamBlocks(PrivatePool& pool_in, void* stream_in) : pool(&pool_in), stream(stream_in) {}

  PrivatePool* pool;
  void* stream;
  SmallFreeBlocks small;
  LargeFreeBlocks large;
  std::array<std::unique_ptr<ExpandableSegment>, 2> expandable; // for large and for small blocks
};

class DeviceMemoryPool {
 public:
  using DeviceStats = CachingDeviceAllocator::DeviceStats;
  using SegmentInfo = CachingDeviceAllocator::SegmentInfo;
  using Settings = CachingAllocator::AllocatorSettings;
  /// Called with (device, bytes allocated, bytes of the device, bytes free) before a failed request throws.
  using OutOfMemoryObserver = std::function<void(int64_t, size_t, size_t, size_t)>;

  DeviceMemoryPool(DeviceIndex device, DeviceMemoryDriver& driver, const Settings& settings = {})
      : device_(device), driver_(driver), settings_(settings) {}
  DeviceMemoryPool(const DeviceMemoryPool&) = delete;
  DeviceMemoryPool& operator=(const DeviceMemoryPool&) = delete;

  /// At least `bytes` for use on a stream of the device. Throws OutOfMemoryError.
  void* allocate(size_t bytes, void* stream);
  /// False if the pool did not give `pointer`.
  bool release(void* pointer);
  /// The block is used on that stream, too. False if the pool did not give `pointer`.
  bool record_stream(void* pointer, DeviceStream stream);
  /// Gives the driver back what it can, of all pools or of one private pool.
  void empty_cache(MempoolId_t id = {0, 0});

  /// Holds the private pool, which is made if need be; from now on requests on streams that pass the filter go to it.
  void begin_allocate_to_pool(MempoolId_t id, std::function<bool(void*)> filter);
  void end_allocate_to_pool(MempoolId_t id);
  /// Ends one hold. Without any the pool's unused segments may go back to the driver.
  void release_pool(MempoolId_t id);
  int pool_holders(MempoolId_t id) const;

  /// The part of the device's memory that may be reserved, from 0 to 1.
  void set_memory_fraction(double fraction);
  double memory_fraction() const;
  void attach_observer(OutOfMemoryObserver observer);
  /// For requests from now on.
  void configure(const Settings& settings);

  void record_history(const AllocationHistory::Options& options);
  bool records_history() const;
  void attach_tracker(CachingDeviceAllocator::AllocatorTraceTracker tracker);
  std::vector<CachingDeviceAllocator::TraceEntry> history() const;

  DeviceStats stats() const;
  void reset_accumulated_stats();
  void reset_peak_stats();
  /// Bytes (in use by programs, held from the driver).
  std::pair<size_t, size_t> totals() const;
  /// The largest free block of the common pool.
  size_t largest_free_block() const;
  /// Address and size of the segment that a block in use lies in.
  std::optional<std::pair<void*, size_t>> segment_of(const void* pointer) const;
  /// Of all pools, or of one private pool.
  std::vector<SegmentInfo> snapshot(MempoolId_t id = {0, 0}) const;

 private:
  StreamBlocks& blocks_of(void* stream);
  static StreamBlocks& blocks_in(PrivatePool& pool, void* stream);
  PrivatePool& held_pool(MempoolId_t id);
  void forget_pool_if_empty(MempoolId_t id);
  bool capturing() const {
    return !filters_.empty();
  }
  MemoryBlock* new_block();
  void delete_block(MemoryBlock* block);

  size_t block_size(size_t bytes) const;
  size_t segment_size(size_t size) const;
  bool leaves_a_block(const MemoryBlock& block, size_t size) const;
  bool limit_allows(size_t bytes) const;

  MemoryBlock* find_or_reserve(size_t size, void* stream);
  MemoryBlock* take_best_fit(StreamBlocks& owner, size_t size);
  MemoryBlock* reserve(StreamBlocks& owner, size_t size);
  MemoryBlock* reserve_segment(StreamBlocks& owner, size_t size, size_t segment_size);
  void split(MemoryBlock* block, size_t size);
  MemoryBlock* cut(MemoryBlock* block, size_t size);
  void free_block(MemoryBlock* block);
  void absorb_next(MemoryBlock* block);
  void insert_free(MemoryBlock* block);
  void erase_free(MemoryBlock* block);
  void release_segment(MemoryBlock* block);
  void release_cached_segments(MempoolId_t id = {0, 0});
  bool release_oversized(StreamBlocks& owner, size_t size);
  void collect_garbage(size_t wanted);

  ExpandableSegment* expandable_segment(StreamBlocks& owner, bool small);
  MemoryBlock* expand(ExpandableSegment& segment, MemoryBlock* gap, size_t size);
  MemoryBlock* unmap_pages(MemoryBlock* block);
  bool release_addresses_if_empty(MemoryBlock* first);
  static size_t pages_inside(const MemoryBlock& block);
  void count_reserved(const MemoryBlock& block, size_t bytes, int64_t segments);
  void count_returned(const MemoryBlock& block, size_t bytes, int64_t segments);

  void wait_for_streams(MemoryBlock* block);
  void record_postponed_events();
  void poll_events();
  void wait_for_events();
  void event_passed(MemoryBlock* block, void* event);

  void note(
      CachingDeviceAllocator::TraceEntry::Action action,
      const MemoryBlock& block,
      const void* address,
      size_t bytes,
      const std::shared_ptr<GatheredContext>& context = nullptr);
  size_t held_by_private_pools() const;
  std::string out_of_memory_message(size_t bytes, size_t free, size_t total) const;

  const DeviceIndex device_;
  DeviceMemoryDriver& driver_;
  mutable std::mutex mutex_;

  PrivatePool common_{{0, 0}, 0, {}};
  StreamBlocks* last_stream_ = nullptr; // of the common pool
  std::map<MempoolId_t, PrivatePool> private_pools_;
  std::vector<std::pair<MempoolId_t, std::function<bool(void*)>>> filters_;
  ska::flat_hash_map<void*, MemoryBlock*> in_use_;
  std::map<char*, MemoryBlock*> segments_; // first blocks, by address; a segment's first block stays the same object
  std::map<DeviceStream, std::deque<std::pair<void*, MemoryBlock*>>> events_; // by stream, oldest first
  std::vector<MemoryBlock*> released_in_capture_; // their events are recorded when it is over
  std::deque<MemoryBlock> block_storage_;
  std::vector<MemoryBlock*> spare_blocks_;

  Settings settings_;
  double fraction_ = 1.0;
  std::optional<size_t> limit_;
  std::optional<size_t> total_; // bytes of the device, once asked for
  uint64_t requests_ = 0;
  AllocationHistory history_;
  std::vector<OutOfMemoryObserver> observers_;
  DeviceStats stats_;
};

} // namespace c10::cuda::impl
