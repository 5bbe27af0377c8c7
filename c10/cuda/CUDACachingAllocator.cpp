#include <c10/cuda/CUDACachingAllocator.h>

#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/impl/DeviceMemoryPool.h>
#include <c10/cuda/impl/EventPool.h>
#include <c10/cuda/impl/VirtualMemory.h>
#include <c10/util/env.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_set>

namespace c10::cuda::CUDACachingAllocator {
namespace {

using impl::DeviceMemoryPool;

/// Null if the device has no room.
void* device_malloc(size_t bytes) {
  void* address = nullptr;
  const cudaError_t error = cudaMalloc(&address, bytes);
  if (error == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  C10_CUDA_CHECK(error);
  return address;
}

class Driver final : public impl::CudaEvents<impl::DeviceMemoryDriver> {
 public:
  explicit Driver(DeviceIndex device) : device_(device), addresses_(device) {}

  void* allocate(size_t bytes) override {
    const CUDAGuard guard(device_);
    // Under a capture of this thread's the runtime would refuse otherwise.
    const CUDAStreamCaptureModeGuard relaxed(cudaStreamCaptureModeRelaxed);
    return device_malloc(bytes);
  }
  void release(void* address, size_t /*bytes*/) noexcept override {
    // Fails only when the runtime is shutting down, or the device is lost.
    C10_CUDA_IGNORE_ERROR(cudaFree(address));
  }
  void* reserve_addresses(size_t bytes) override {
    return addresses_.reserve(bytes);
  }
  void release_addresses(void* address, size_t bytes) noexcept override {
    addresses_.release(address, bytes);
  }
  bool map(void* address, size_t bytes, size_t page) override {
    return addresses_.map(address, bytes, page);
  }
  void unmap(void* address, size_t bytes, size_t page) noexcept override {
    addresses_.unmap(address, bytes, page);
  }
  void add_peer(DeviceIndex peer) {
    addresses_.add_peer(peer);
  }
  std::pair<size_t, size_t> memory_info() override {
    const CUDAGuard guard(device_);
    size_t free = 0;
    size_t total = 0;
    C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
    return {free, total};
  }

 private:
  const DeviceIndex device_;
  impl::VirtualMemory addresses_;
};

struct DevicePool {
  DevicePool(DeviceIndex device, const CachingAllocator::AllocatorSettings& settings)
      : driver(device), pool(device, driver, settings) {
    if (settings.memory_fraction < 1) {
      pool.set_memory_fraction(settings.memory_fraction);
    }
  }

  Driver driver;
  DeviceMemoryPool pool;
};

/// Memory that was asked for with caching off.
class UncachedMemory {
 public:
  void* allocate(size_t bytes) {
    void* address = device_malloc(bytes);
    TORCH_CHECK_WITH(
        OutOfMemoryError, address != nullptr, "CUDA out of memory. Tried to allocate ",
        CachingAllocator::format_size(bytes), " with the caching allocator turned off.");
    const std::lock_guard<std::mutex> lock(mutex_);
    addresses_.insert(address);
    return address;
  }
  bool release(void* address) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (addresses_.erase(address) == 0) {
        return false;
      }
    }
    C10_CUDA_IGNORE_ERROR(cudaFree(address));
    return true;
  }

 private:
  std::mutex mutex_;
  std::unordered_set<void*> addresses_;
};

void delete_block(void* address);

class NativeCachingAllocator final : public CUDAAllocator {
 public:
  DataPtr allocate(size_t n) override {
    const DeviceIndex device = current_device();
    void* address = n != 0 ? allocate_on(device, n, getCurrentCUDAStream(device).stream()) : nullptr;
    return {address, address, &delete_block, Device(DeviceType::CUDA, device)};
  }
  DeleterFnPtr raw_deleter() const override {
    return &delete_block;
  }
  void copy_data(void* dest, const void* src, std::size_t count) const override {
    if (count != 0) {
      C10_CUDA_CHECK(cudaMemcpyAsync(dest, src, count, cudaMemcpyDeviceToDevice, getCurrentCUDAStream().stream()));
    }
  }

  void* raw_alloc(size_t nbytes) override {
    return raw_alloc_with_stream(nbytes, getCurrentCUDAStream().stream());
  }
  void* raw_alloc_with_stream(size_t nbytes, cudaStream_t stream) override {
    return nbytes != 0 ? allocate_on(current_device(), nbytes, stream) : nullptr;
  }
  void raw_delete(void* ptr) override {
    TORCH_CHECK(ptr == nullptr || release(ptr), "invalid device pointer: ", ptr);
  }

  bool initialized() override {
    return pool_count_.load(std::memory_order_acquire) > 0;
  }
  void init(int device_count) override {
    for (int device = 0; device < device_count; ++device) {
      pool_of(static_cast<DeviceIndex>(device));
    }
  }
  void emptyCache(MempoolId_t mempool_id = {0, 0}) override {
    for_each_pool([&](DeviceMemoryPool& pool) { pool.empty_cache(mempool_id); });
  }
  double getMemoryFraction(DeviceIndex device) override {
    return pool_of(device).memory_fraction();
  }
  void setMemoryFraction(double fraction, DeviceIndex device) override {
    pool_of(device).set_memory_fraction(fraction);
  }
  void enable(bool value) override {
    caching_.store(value, std::memory_order_relaxed);
  }
  bool isEnabled() const override {
    return caching_.load(std::memory_order_relaxed);
  }
  void cacheInfo(DeviceIndex device, size_t* largestBlock) override {
    *largestBlock = std::max({*largestBlock, pool_of(device).largest_free_block(), getMemoryInfo(device).first});
  }
  void* getBaseAllocation(void* ptr, size_t* size) override {
    std::optional<std::pair<void*, size_t>> segment;
    for_each_pool([&](DeviceMemoryPool& pool) { segment = segment ? segment : pool.segment_of(ptr); });
    TORCH_CHECK(segment.has_value(), "invalid device pointer: ", ptr);
    if (size != nullptr) {
      *size = segment->second;
    }
    return segment->first;
  }

  using CUDAAllocator::recordStream;
  void recordStream(const DataPtr& ptr, CUDAStream stream) override {
    // Memory of others is theirs to keep: wrapped pointers, other allocators.
    if (ptr.get() == nullptr || ptr.get_deleter() != &delete_block) {
      return;
    }
    pool_of(ptr.device().index()).record_stream(ptr.get(), {stream.device_index(), stream.stream()});
  }

  DeviceStats getDeviceStats(DeviceIndex device) override {
    return pool_of(device).stats();
  }
  void resetAccumulatedStats(DeviceIndex device) override {
    pool_of(device).reset_accumulated_stats();
  }
  void resetPeakStats(DeviceIndex device) override {
    pool_of(device).reset_peak_stats();
  }
  void beginAllocateToPool(
      DeviceIndex device, MempoolId_t mempool_id, std::function<bool(cudaStream_t)> filter) override {
    pool_of(device).begin_allocate_to_pool(
        mempool_id, [filter = std::move(filter)](void* stream) { return filter(static_cast<cudaStream_t>(stream)); });
  }
  void endAllocateToPool(DeviceIndex device, MempoolId_t mempool_id) override {
    pool_of(device).end_allocate_to_pool(mempool_id);
  }
  void releasePool(DeviceIndex device, MempoolId_t mempool_id) override {
    pool_of(device).release_pool(mempool_id);
  }
  int getPoolUseCount(DeviceIndex device, MempoolId_t mempool_id) override {
    return pool_of(device).pool_holders(mempool_id);
  }
  SnapshotInfo snapshot(MempoolId_t mempool_id, bool include_traces) override {
    SnapshotInfo info;
    info.settings = CachingAllocator::AcceleratorAllocatorConfig::settings();
    info.last_allocator_settings = CachingAllocator::getAllocatorSettings();
    info.device_traces.resize(static_cast<size_t>(device_count()));
    for (DeviceIndex device = 0; device < device_count(); ++device) {
      DevicePool* made = pools_[static_cast<size_t>(device)].load(std::memory_order_acquire);
      if (made == nullptr) {
        continue;
      }
      const std::vector<SegmentInfo> segments = made->pool.snapshot(mempool_id);
      info.segments.insert(info.segments.end(), segments.begin(), segments.end());
      if (include_traces) {
        info.device_traces[static_cast<size_t>(device)] = made->pool.history();
      }
    }
    return info;
  }
  void recordHistory(
      bool enabled,
      CreateContextFn context_recorder,
      size_t alloc_trace_max_entries,
      RecordContext when,
      bool clearHistory,
      const std::vector<std::string>& skip_actions) override {
    TORCH_CHECK(
        when == RecordContext::NEVER || context_recorder != nullptr,
        "recordHistory: contexts are wanted, but there is no function that gathers them");
    for_each_device([&](DeviceMemoryPool& pool) {
      pool.record_history({enabled, context_recorder, alloc_trace_max_entries, when, clearHistory, skip_actions});
    });
  }
  bool isHistoryEnabled() override {
    bool enabled = false;
    for_each_pool([&](DeviceMemoryPool& pool) { enabled = enabled || pool.records_history(); });
    return enabled;
  }
  void attachAllocatorTraceTracker(AllocatorTraceTracker tracker) override {
    for_each_device([&](DeviceMemoryPool& pool) { pool.attach_tracker(tracker); });
  }
  void attachOutOfMemoryObserver(OutOfMemoryObserver observer) override {
    for_each_device([&](DeviceMemoryPool& pool) { pool.attach_observer(observer); });
  }

  void enablePeerAccess(DeviceIndex dev, DeviceIndex dev_to_access) override {
    const CUDAGuard guard(dev);
    const cudaError_t error = cudaDeviceEnablePeerAccess(dev_to_access, 0);
    if (error == cudaErrorPeerAccessAlreadyEnabled) {
      static_cast<void>(cudaGetLastError());
    } else {
      C10_CUDA_CHECK(error);
    }
    get_or_create_pool(dev_to_access).driver.add_peer(dev);
  }
  cudaError_t memcpyAsync(
      void* dst, int dstDevice, const void* src, int srcDevice, size_t count, cudaStream_t stream, bool p2p_enabled)
      override {
    return p2p_enabled || dstDevice == srcDevice ? cudaMemcpyAsync(dst, src, count, cudaMemcpyDeviceToDevice, stream)
                                                 : cudaMemcpyPeerAsync(dst, dstDevice, src, srcDevice, count, stream);
  }
  std::string name() override {
    return "native";
  }

  /// False if the memory is not of this allocator.
  bool release(void* ptr) {
    // A thread mostly releases on the device it allocated on last: look there first.
    DeviceMemoryPool* found = release_from(last_device_, ptr);
    for (DeviceIndex device = 0; found == nullptr && device < device_count(); ++device) {
      found = device != last_device_ ? release_from(device, ptr) : nullptr;
    }
    return found != nullptr || uncached_.release(ptr);
  }

 private:
  void* allocate_on(DeviceIndex device, size_t bytes, cudaStream_t stream) {
    if (C10_UNLIKELY(!isEnabled())) {
      return uncached_.allocate(bytes);
    }
    last_device_ = device;
    DeviceMemoryPool& pool = pool_of(device);
    void* address = pool.allocate(bytes, stream);
    if (C10_UNLIKELY(memoryProfilingEnabled())) {
      report(pool, address, static_cast<int64_t>(bytes), device);
    }
    return address;
  }

  /// The pool, if the memory is its.
  DeviceMemoryPool* release_from(DeviceIndex device, void* ptr) {
    DevicePool* made = pools_[static_cast<size_t>(device)].load(std::memory_order_acquire);
    if (made == nullptr) {
      return nullptr;
    }
    if (C10_LIKELY(!memoryProfilingEnabled())) {
      return made->pool.release(ptr) ? &made->pool : nullptr;
    }
    const size_t before = made->pool.totals().first;
    if (!made->pool.release(ptr)) {
      return nullptr;
    }
    report(made->pool, ptr, static_cast<int64_t>(made->pool.totals().first) - static_cast<int64_t>(before), device);
    return &made->pool;
  }

  static void report(const DeviceMemoryPool& pool, void* address, int64_t change, DeviceIndex device) {
    const auto [allocated, reserved] = pool.totals();
    reportMemoryUsageToProfiler(address, change, allocated, reserved, Device(DeviceType::CUDA, device));
  }

  DeviceMemoryPool& pool_of(DeviceIndex device) {
    return get_or_create_pool(device).pool;
  }

  DevicePool& get_or_create_pool(DeviceIndex device) {
    TORCH_CHECK(
        device >= 0 && device < device_count(), "Invalid device argument ", static_cast<int>(device), ": there are ",
        static_cast<int>(device_count()), " CUDA devices");
    std::atomic<DevicePool*>& slot = pools_[static_cast<size_t>(device)];
    if (DevicePool* made = slot.load(std::memory_order_acquire); C10_LIKELY(made != nullptr)) {
      return *made;
    }
    static std::once_flag listening;
    std::call_once(listening, [this] {
      CachingAllocator::on_allocator_settings([this](const CachingAllocator::AllocatorSettings& settings) {
        for_each_pool([&](DeviceMemoryPool& pool) {
          pool.configure(settings);
          if (settings.memory_fraction < 1) {
            pool.set_memory_fraction(settings.memory_fraction);
          }
        });
      });
    });
    auto fresh = std::make_unique<DevicePool>(device, CachingAllocator::AcceleratorAllocatorConfig::settings());
    DevicePool* expected = nullptr;
    if (slot.compare_exchange_strong(expected, fresh.get(), std::memory_order_acq_rel)) {
      pool_count_.fetch_add(1, std::memory_order_release);
      return *fresh.release();
    }
    return *expected;
  }

  /// Makes the pools that are not there.
  template <class Function>
  void for_each_device(Function f) {
    for (DeviceIndex device = 0; device < device_count(); ++device) {
      f(pool_of(device));
    }
  }

  template <class Function>
  void for_each_pool(Function f) {
    for (std::atomic<DevicePool*>& slot : pools_) {
      if (DevicePool* made = slot.load(std::memory_order_acquire)) {
        f(made->pool);
      }
    }
  }

  static thread_local DeviceIndex last_device_;

  std::array<std::atomic<DevicePool*>, C10_COMPILE_TIME_MAX_GPUS> pools_{};
  std::atomic<int> pool_count_{0};
  std::atomic<bool> caching_{!c10::utils::has_env("PYTORCH_NO_CUDA_MEMORY_CACHING")};
  UncachedMemory uncached_;
};

thread_local constinit DeviceIndex NativeCachingAllocator::last_device_ = 0;

/// Never destroyed: tensors in static variables outlive everything.
NativeCachingAllocator& native() {
  static auto* const allocator = new NativeCachingAllocator();
  return *allocator;
}

/// Runs in destructors, so it does not throw.
void delete_block(void* address) {
  if (address != nullptr && !native().release(address)) {
    TORCH_WARN("invalid device pointer: ", address, " was released, but the CUDA allocator did not give it");
  }
}

constinit std::atomic<CUDAAllocator*> in_use{nullptr};

[[maybe_unused]] const bool registered = [] {
  set(&native());
  return true;
}();

} // namespace

// A function, not a variable: a program would have a copy of that one (it is bound symbolically here).
CUDAAllocator* get() {
  return in_use.load(std::memory_order_acquire);
}

void set(CUDAAllocator* allocator) {
  in_use.store(allocator, std::memory_order_release);
  SetAllocator(DeviceType::CUDA, allocator);
}

CUDAAllocator::~CUDAAllocator() = default;

std::pair<size_t, size_t> CUDAAllocator::getMemoryInfo(DeviceIndex device) {
  const CUDAGuard guard(device);
  size_t free = 0;
  size_t total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return {free, total};
}

} // namespace c10::cuda::CUDACachingAllocator
