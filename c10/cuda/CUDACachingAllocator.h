// Memory of CUDA devices.
#pragma once

#include <c10/core/AllocatorConfig.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/cuda/CUDAMacros.h>
#include <c10/cuda/CUDAStream.h>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace c10::cuda {
using c10::CaptureId_t;
using c10::MempoolId_t;
} // namespace c10::cuda

namespace c10::cuda::CUDACachingAllocator {

using c10::CachingDeviceAllocator::AllocatorTraceTracker;
using c10::CachingDeviceAllocator::BlockInfo;
using c10::CachingDeviceAllocator::CreateContextFn;
using c10::CachingDeviceAllocator::DeviceStats;
using c10::CachingDeviceAllocator::RecordContext;
using c10::CachingDeviceAllocator::SegmentInfo;
using c10::CachingDeviceAllocator::TraceEntry;

/// Hears of each request that fails for good, before it throws.
using OutOfMemoryObserver =
    std::function<void(int64_t device, size_t allocated, size_t device_total, size_t device_free)>;

/// torch::cuda::memory_snapshot() writes it as a file for PyTorch's memory viewer.
struct SnapshotInfo {
  std::vector<SegmentInfo> segments;
  std::vector<std::vector<TraceEntry>> device_traces; // by device, oldest first; see recordHistory
  CachingAllocator::AllocatorSettings settings;
  std::string last_allocator_settings;
};

/// What a replacement of the caching allocator implements.
class C10_CUDA_API CUDAAllocator : public DeviceAllocator {
 public:
  ~CUDAAllocator() override;

  // Bare pointers, on the current device and its current or the given stream. raw_alloc throws OutOfMemoryError.
  virtual void* raw_alloc(size_t nbytes) = 0;
  virtual void* raw_alloc_with_stream(size_t nbytes, cudaStream_t stream) = 0;
  virtual void raw_delete(void* ptr) = 0;

  /// Prepares for that many devices. Happens by itself.
  virtual void init(int device_count) = 0;
  /// The part of the device's memory that this process may use.
  virtual double getMemoryFraction(c10::DeviceIndex device) = 0;
  virtual void setMemoryFraction(double fraction, c10::DeviceIndex device) = 0;
  /// With caching off each request goes to the driver.
  virtual void enable(bool value) = 0;
  virtual bool isEnabled() const = 0;
  /// Raises *largestBlock to the largest request that could be served without another caller's memory.
  virtual void cacheInfo(c10::DeviceIndex device, size_t* largestBlock) = 0;
  /// The segment that holds a block, and its size.
  virtual void* getBaseAllocation(void* ptr, size_t* size) = 0;

  virtual void recordStream(const DataPtr& ptr, CUDAStream stream) = 0;
  void recordStream(const DataPtr& ptr, c10::Stream stream) override {
    recordStream(ptr, CUDAStream(stream));
  }

  virtual SnapshotInfo snapshot(MempoolId_t mempool_id = {0, 0}, bool include_traces = true) = 0;
  /// Keeps the last `alloc_trace_max_entries` events, and by `when` where they come from, as `context_recorder` tells.
  /// For all devices.
  virtual void recordHistory(
      bool enabled,
      CreateContextFn context_recorder,
      size_t alloc_trace_max_entries,
      RecordContext when,
      bool clearHistory,
      const std::vector<std::string>& skip_actions) = 0;
  virtual bool isHistoryEnabled() = 0;
  /// Hears of each event from now on, under the allocator's lock: it must not allocate device memory.
  virtual void attachAllocatorTraceTracker(AllocatorTraceTracker tracker) = 0;

  // Private pools, for memory that a captured graph uses again and again: see Note [Device memory].
  virtual void beginAllocateToPool(
      c10::DeviceIndex device, MempoolId_t mempool_id, std::function<bool(cudaStream_t)> filter) = 0;
  virtual void endAllocateToPool(c10::DeviceIndex device, MempoolId_t mempool_id) = 0;
  virtual void releasePool(c10::DeviceIndex device, MempoolId_t mempool_id) = 0;
  virtual int getPoolUseCount(c10::DeviceIndex device, MempoolId_t mempool_id) = 0;

  virtual void attachOutOfMemoryObserver(OutOfMemoryObserver observer) = 0;
  /// Lets kernels on `dev` use memory of `dev_to_access`.
  virtual void enablePeerAccess(c10::DeviceIndex dev, c10::DeviceIndex dev_to_access) = 0;
  virtual cudaError_t memcpyAsync(
      void* dst,
      int dstDevice,
      const void* src,
      int srcDevice,
      size_t count,
      cudaStream_t stream,
      bool p2p_enabled) = 0;
  virtual std::string name() = 0;

  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) override;
};

/// The allocator in use.
C10_CUDA_API CUDAAllocator* get();
/// Replaces it. The new one must live for ever; memory of the old one is released by the old one.
C10_CUDA_API void set(CUDAAllocator* allocator);

inline void* raw_alloc(size_t nbytes) {
  return get()->raw_alloc(nbytes);
}
inline void* raw_alloc_with_stream(size_t nbytes, cudaStream_t stream) {
  return get()->raw_alloc_with_stream(nbytes, stream);
}
inline void raw_delete(void* ptr) {
  get()->raw_delete(ptr);
}
inline void init(int device_count) {
  get()->init(device_count);
}
inline double getMemoryFraction(c10::DeviceIndex device) {
  return get()->getMemoryFraction(device);
}
inline void setMemoryFraction(double fraction, c10::DeviceIndex device) {
  get()->setMemoryFraction(fraction, device);
}
inline void emptyCache(MempoolId_t mempool_id = {0, 0}) {
  get()->emptyCache(mempool_id);
}
inline void enable(bool value) {
  get()->enable(value);
}
inline bool isEnabled() {
  return get()->isEnabled();
}
inline void cacheInfo(c10::DeviceIndex device, size_t* largestBlock) {
  get()->cacheInfo(device, largestBlock);
}
inline void* getBaseAllocation(void* ptr, size_t* size) {
  return get()->getBaseAllocation(ptr, size);
}
inline void recordStream(const DataPtr& ptr, CUDAStream stream) {
  get()->recordStream(ptr, stream);
}
inline DeviceStats getDeviceStats(c10::DeviceIndex device) {
  return get()->getDeviceStats(device);
}
inline void resetAccumulatedStats(c10::DeviceIndex device) {
  get()->resetAccumulatedStats(device);
}
inline void resetPeakStats(c10::DeviceIndex device) {
  get()->resetPeakStats(device);
}
inline SnapshotInfo snapshot(MempoolId_t mempool_id = {0, 0}, bool include_traces = true) {
  return get()->snapshot(mempool_id, include_traces);
}
inline void recordHistory(
    bool enabled,
    CreateContextFn context_recorder,
    size_t alloc_trace_max_entries,
    RecordContext when,
    bool clearHistory = false,
    const std::vector<std::string>& skip_actions = {}) {
  get()->recordHistory(enabled, context_recorder, alloc_trace_max_entries, when, clearHistory, skip_actions);
}
inline bool isHistoryEnabled() {
  return get()->isHistoryEnabled();
}
inline void attachAllocatorTraceTracker(AllocatorTraceTracker tracker) {
  get()->attachAllocatorTraceTracker(std::move(tracker));
}
inline void beginAllocateToPool(
    c10::DeviceIndex device, MempoolId_t mempool_id, std::function<bool(cudaStream_t)> filter) {
  get()->beginAllocateToPool(device, mempool_id, std::move(filter));
}
inline void endAllocateToPool(c10::DeviceIndex device, MempoolId_t mempool_id) {
  get()->endAllocateToPool(device, mempool_id);
}
inline void releasePool(c10::DeviceIndex device, MempoolId_t mempool_id) {
  get()->releasePool(device, mempool_id);
}
inline int getPoolUseCount(c10::DeviceIndex device, MempoolId_t mempool_id) {
  return get()->getPoolUseCount(device, mempool_id);
}
inline void attachOutOfMemoryObserver(OutOfMemoryObserver observer) {
  get()->attachOutOfMemoryObserver(std::move(observer));
}
inline void enablePeerAccess(c10::DeviceIndex dev, c10::DeviceIndex dev_to_access) {
  get()->enablePeerAccess(dev, dev_to_access);
}
inline cudaError_t memcpyAsync(
    void* dst, int dstDevice, const void* src, int srcDevice, size_t count, cudaStream_t stream, bool p2p_enabled) {
  return get()->memcpyAsync(dst, dstDevice, src, srcDevice, count, stream, p2p_enabled);
}
inline std::string name() {
  return get()->name();
}

} // namespace c10::cuda::CUDACachingAllocator
