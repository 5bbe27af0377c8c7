#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Stream.h>
#include <c10/macros/Export.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace c10 {

namespace CachingDeviceAllocator {

using c10::CachingAllocator::Stat;
using c10::CachingAllocator::StatArray;
using c10::CachingAllocator::StatType;
using c10::CachingAllocator::StatTypes;

/// State of a caching allocator on one device. A segment is memory from the driver; it is cut into blocks.
struct DeviceStats {
  StatArray allocation; // requests by programs
  StatArray segment;
  StatArray active; // blocks in use, or waiting for a stream
  StatArray inactive_split;
  StatArray allocated_bytes;
  StatArray reserved_bytes;
  std::unordered_map<MempoolId_t, StatArray, MempoolIdHash> reserved_bytes_by_private_pools;
  StatArray active_bytes;
  StatArray inactive_split_bytes;
  StatArray requested_bytes; // before rounding

  int64_t num_alloc_retries = 0; // the cache had to be emptied first
  int64_t num_ooms = 0;
  Stat oversize_allocations;
  Stat oversize_segments;
  int64_t num_sync_all_streams = 0;
  int64_t num_device_alloc = 0;
  int64_t num_device_free = 0;
  int64_t max_split_size = 0;
};

using CreateContextFn = std::shared_ptr<GatheredContext> (*)();

/// What allocations remember of where they were made.
enum struct RecordContext { NEVER = 0, STATE = 1, ALLOC = 2, ALL = 3 };

struct BlockInfo {
  size_t size = 0;
  size_t requested_size = 0;
  int32_t gc_counter = 0;
  bool allocated = false;
  bool active = false;
  std::shared_ptr<GatheredContext> context_when_allocated;
};

struct SegmentInfo {
  c10::DeviceIndex device = 0;
  int32_t registration_counter = -1;
  size_t address = 0;
  size_t total_size = 0;
  size_t requested_size = 0;
  size_t allocated_size = 0;
  size_t active_size = 0;
  void* stream = nullptr;
  bool is_large = false;
  bool is_expandable = false;
  MempoolId_t owner_private_pool_id = {0, 0};
  std::vector<BlockInfo> blocks;
  std::shared_ptr<GatheredContext> context_when_allocated;
};

/// One event in the history of an allocator.
struct TraceEntry {
  enum Action {
    ALLOC,
    FREE_REQUESTED,
    FREE_COMPLETED, // later than requested if another stream used the memory
    SEGMENT_ALLOC,
    SEGMENT_FREE,
    SEGMENT_MAP,
    SEGMENT_UNMAP,
    SNAPSHOT,
    OOM, // addr_ is the number of free bytes
  };

  Action action_;
  c10::DeviceIndex device_;
  size_t addr_;
  size_t size_;
  void* stream_ = nullptr;
  MempoolId_t mempool_ = {0, 0};
  int64_t time_ns_ = 0;
  std::shared_ptr<GatheredContext> context_;
};

using AllocatorTraceTracker = std::function<void(const TraceEntry&)>;

} // namespace CachingDeviceAllocator

/// A caching allocator of a device with streams.
struct C10_API DeviceAllocator : public c10::Allocator {
  ~DeviceAllocator() override;

  virtual bool initialized() = 0;
  /// Returns cached memory to the driver.
  virtual void emptyCache(MempoolId_t mempool_id = {0, 0}) = 0;
  /// The memory is not reused before the work that the stream has now is done.
  virtual void recordStream(const DataPtr& ptr, c10::Stream stream) = 0;
  virtual CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device) = 0;
  virtual void resetAccumulatedStats(c10::DeviceIndex device) = 0;
  virtual void resetPeakStats(c10::DeviceIndex device) = 0;
  /// Free and total bytes of the device. Throws NotImplementedError by default.
  virtual std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device);
};

/// The allocator of a device type. Throws if it is not a DeviceAllocator.
C10_API DeviceAllocator* getDeviceAllocator(const DeviceType& t);

} // namespace c10
