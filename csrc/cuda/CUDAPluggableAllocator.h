// Device memory from functions of the program.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/macros/Export.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace torch::cuda::CUDAPluggableAllocator {

using c10::cuda::CUDACachingAllocator::CUDAAllocator;

using AllocateFunction = std::function<void*(size_t size, int device, cudaStream_t stream)>;
using FreeFunction = std::function<void(void* pointer, size_t size, int device, cudaStream_t stream)>;

/// An allocator made of two functions. What it has no function for (statistics, snapshots, history, limits) throws.
TORCH_CUDA_CPP_API std::shared_ptr<CUDAAllocator> createCustomAllocator(
    AllocateFunction alloc_fn, FreeFunction free_fn);
/// Takes the place of the caching allocator, before that has been used. It stays for the rest of the process.
TORCH_CUDA_CPP_API void changeCurrentAllocator(const std::shared_ptr<CUDAAllocator>& allocator);
/// The one given to changeCurrentAllocator; null before.
TORCH_CUDA_CPP_API std::shared_ptr<CUDAAllocator> getCurrentAllocator();

struct TORCH_CUDA_CPP_API CUDAPluggableAllocator : public CUDAAllocator {
  CUDAPluggableAllocator(AllocateFunction alloc_fn, FreeFunction free_fn);

  // Functions for what is optional; without them nothing is done, or the call throws.
  void set_init_fn(std::function<void(int device_count)> init_fn);
  void set_reset_fn(std::function<void()> reset_fn);
  void set_memory_fraction_fn(std::function<void(double fraction, int device)> memory_fraction_fn);
  void set_base_alloc_fn(std::function<void*(void*, size_t*)> base_alloc_fn);
  void set_record_stream_fn(std::function<void(void* ptr, cudaStream_t stream)> record_stream_fn);
  void set_begin_allocate_to_pool(
      std::function<void(int, c10::cuda::MempoolId_t, std::function<bool(cudaStream_t)>)> capture_begin_fn);
  void set_end_allocate_to_pool_fn(std::function<void(int, c10::cuda::MempoolId_t)> capture_about_to_end_fn);
  void set_release_pool(std::function<void(int, c10::cuda::MempoolId_t)> capture_destroy_fn);

  void* malloc(size_t size, c10::DeviceIndex device, cudaStream_t stream);

  c10::DataPtr allocate(size_t size) override;
  c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* dest, const void* src, std::size_t count) const override;
  void* raw_alloc(size_t nbytes) override;
  void* raw_alloc_with_stream(size_t nbytes, cudaStream_t stream) override;
  void raw_delete(void* ptr) override;
  void init(int device_count) override;
  bool initialized() override;
  double getMemoryFraction(c10::DeviceIndex device) override;
  void setMemoryFraction(double fraction, c10::DeviceIndex device) override;
  void emptyCache(c10::MempoolId_t mempool_id = {0, 0}) override;
  void enable(bool value) override;
  bool isEnabled() const override;
  void cacheInfo(c10::DeviceIndex device, size_t* largestBlock) override;
  void* getBaseAllocation(void* ptr, size_t* size) override;
  using CUDAAllocator::recordStream;
  void recordStream(const c10::DataPtr& ptr, c10::cuda::CUDAStream stream) override;
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device) override;
  void resetAccumulatedStats(c10::DeviceIndex device) override;
  void resetPeakStats(c10::DeviceIndex device) override;
  c10::cuda::CUDACachingAllocator::SnapshotInfo snapshot(c10::MempoolId_t mempool_id, bool include_traces) override;
  void recordHistory(
      bool enabled,
      c10::CachingDeviceAllocator::CreateContextFn context_recorder,
      size_t alloc_trace_max_entries,
      c10::CachingDeviceAllocator::RecordContext when,
      bool clearHistory,
      const std::vector<std::string>& skip_actions) override;
  bool isHistoryEnabled() override;
  void attachAllocatorTraceTracker(c10::CachingDeviceAllocator::AllocatorTraceTracker tracker) override;
  void beginAllocateToPool(
      c10::DeviceIndex device, c10::MempoolId_t mempool_id, std::function<bool(cudaStream_t)> filter) override;
  void endAllocateToPool(c10::DeviceIndex device, c10::MempoolId_t mempool_id) override;
  void releasePool(c10::DeviceIndex device, c10::MempoolId_t mempool_id) override;
  int getPoolUseCount(c10::DeviceIndex device, c10::MempoolId_t mempool_id) override;
  void attachOutOfMemoryObserver(c10::cuda::CUDACachingAllocator::OutOfMemoryObserver observer) override;
  void enablePeerAccess(c10::DeviceIndex dev, c10::DeviceIndex dev_to_access) override;
  cudaError_t memcpyAsync(
      void* dst, int dstDevice, const void* src, int srcDevice, size_t count, cudaStream_t stream, bool p2p_enabled)
      override;
  std::string name() override;

 protected:
  struct Allocation {
    size_t size;
    c10::DeviceIndex device;
    cudaStream_t stream;
  };

  [[noreturn]] void not_supported(const char* what);

  AllocateFunction alloc_fn_;
  FreeFunction free_fn_;
  std::function<void(int)> init_fn_;
  std::function<void()> reset_fn_;
  std::function<void(double, int)> memory_fraction_fn_;
  std::function<void*(void*, size_t*)> base_alloc_fn_;
  std::function<void(void*, cudaStream_t)> record_stream_fn_;
  std::function<void(int, c10::cuda::MempoolId_t, std::function<bool(cudaStream_t)>)> begin_allocate_to_pool_fn_;
  std::function<void(int, c10::cuda::MempoolId_t)> end_allocate_to_pool_fn_;
  std::function<void(int, c10::cuda::MempoolId_t)> release_pool_fn_;
  std::mutex mutex_;
  std::unordered_map<void*, Allocation> allocations_;
  bool initialized_ = false;
};

} // namespace torch::cuda::CUDAPluggableAllocator
