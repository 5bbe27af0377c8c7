#include <csrc/cuda/CUDAPluggableAllocator.h>

#include <c10/cuda/CUDAGuard.h>

#include <utility>

namespace torch::cuda::CUDAPluggableAllocator {
namespace {

/// Set once, then never destroyed: tensors live until the end of the process.
std::shared_ptr<CUDAAllocator>& current() {
  static auto* const allocator = new std::shared_ptr<CUDAAllocator>();
  return *allocator;
}

void delete_in_current(void* pointer) {
  current()->raw_delete(pointer);
}

} // namespace

std::shared_ptr<CUDAAllocator> createCustomAllocator(AllocateFunction alloc_fn, FreeFunction free_fn) {
  auto allocator = std::make_shared<CUDAPluggableAllocator>(std::move(alloc_fn), std::move(free_fn));
  allocator->init(c10::cuda::device_count());
  return allocator;
}

void changeCurrentAllocator(const std::shared_ptr<CUDAAllocator>& allocator) {
  TORCH_CHECK(allocator != nullptr, "changeCurrentAllocator: expected an allocator, got null");
  TORCH_CHECK(!c10::cuda::CUDACachingAllocator::get()->initialized(), "Can't swap an already initialized allocator");
  current() = allocator;
  c10::cuda::CUDACachingAllocator::set(allocator.get());
}

std::shared_ptr<CUDAAllocator> getCurrentAllocator() {
  return current();
}

CUDAPluggableAllocator::CUDAPluggableAllocator(AllocateFunction alloc_fn, FreeFunction free_fn)
    : alloc_fn_(std::move(alloc_fn)), free_fn_(std::move(free_fn)) {
  TORCH_CHECK(alloc_fn_ && free_fn_, "CUDAPluggableAllocator: expected functions to allocate and to free");
}

void CUDAPluggableAllocator::not_supported(const char* what) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "CUDAPluggableAllocator does not yet support ", what);
}

// ---- functions of the program ------------------------------------------------------------

void CUDAPluggableAllocator::set_init_fn(std::function<void(int)> init_fn) {
  init_fn_ = std::move(init_fn);
}
void CUDAPluggableAllocator::set_reset_fn(std::function<void()> reset_fn) {
  reset_fn_ = std::move(reset_fn);
}
void CUDAPluggableAllocator::set_memory_fraction_fn(std::function<void(double, int)> memory_fraction_fn) {
  memory_fraction_fn_ = std::move(memory_fraction_fn);
}
void CUDAPluggableAllocator::set_base_alloc_fn(std::function<void*(void*, size_t*)> base_alloc_fn) {
  base_alloc_fn_ = std::move(base_alloc_fn);
}
void CUDAPluggableAllocator::set_record_stream_fn(std::function<void(void*, cudaStream_t)> record_stream_fn) {
  record_stream_fn_ = std::move(record_stream_fn);
}
void CUDAPluggableAllocator::set_begin_allocate_to_pool(
    std::function<void(int, c10::cuda::MempoolId_t, std::function<bool(cudaStream_t)>)> capture_begin_fn) {
  begin_allocate_to_pool_fn_ = std::move(capture_begin_fn);
}
void CUDAPluggableAllocator::set_end_allocate_to_pool_fn(
    std::function<void(int, c10::cuda::MempoolId_t)> capture_about_to_end_fn) {
  end_allocate_to_pool_fn_ = std::move(capture_about_to_end_fn);
}
void CUDAPluggableAllocator::set_release_pool(std::function<void(int, c10::cuda::MempoolId_t)> capture_destroy_fn) {
  release_pool_fn_ = std::move(capture_destroy_fn);
}

// ---- memory --------------------------------------------------------------------------------

void* CUDAPluggableAllocator::malloc(size_t size, c10::DeviceIndex device, cudaStream_t stream) {
  void* pointer = alloc_fn_(size, device, stream);
  TORCH_CHECK_WITH(
      OutOfMemoryError, pointer != nullptr, "CUDA out of memory. The program's allocator gave no memory for ",
      c10::CachingAllocator::format_size(size), " on device ", static_cast<int>(device), '.');
  const std::lock_guard<std::mutex> lock(mutex_);
  allocations_[pointer] = {size, device, stream};
  return pointer;
}

c10::DataPtr CUDAPluggableAllocator::allocate(size_t size) {
  const c10::DeviceIndex device = c10::cuda::current_device();
  void* pointer = size != 0 ? malloc(size, device, c10::cuda::getCurrentCUDAStream(device)) : nullptr;
  return {pointer, pointer, raw_deleter(), c10::Device(c10::DeviceType::CUDA, device)};
}

c10::DeleterFnPtr CUDAPluggableAllocator::raw_deleter() const {
  return &delete_in_current;
}

void CUDAPluggableAllocator::copy_data(void* dest, const void* src, std::size_t count) const {
  C10_CUDA_CHECK(cudaMemcpyAsync(dest, src, count, cudaMemcpyDeviceToDevice, c10::cuda::getCurrentCUDAStream()));
}

void* CUDAPluggableAllocator::raw_alloc(size_t nbytes) {
  return raw_alloc_with_stream(nbytes, c10::cuda::getCurrentCUDAStream());
}

void* CUDAPluggableAllocator::raw_alloc_with_stream(size_t nbytes, cudaStream_t stream) {
  return nbytes != 0 ? malloc(nbytes, c10::cuda::current_device(), stream) : nullptr;
}

void CUDAPluggableAllocator::raw_delete(void* ptr) {
  if (ptr == nullptr) {
    return;
  }
  Allocation allocation{};
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = allocations_.find(ptr);
    TORCH_CHECK(found != allocations_.end(), "Trying to free a pointer not allocated here: ", ptr);
    allocation = found->second;
    allocations_.erase(found);
  }
  free_fn_(ptr, allocation.size, allocation.device, allocation.stream);
}

void CUDAPluggableAllocator::init(int device_count) {
  if (init_fn_) {
    init_fn_(device_count);
  }
  initialized_ = true;
}

bool CUDAPluggableAllocator::initialized() {
  return initialized_;
}

double CUDAPluggableAllocator::getMemoryFraction(c10::DeviceIndex /*device*/) {
  not_supported("getMemoryFraction");
}

void CUDAPluggableAllocator::setMemoryFraction(double fraction, c10::DeviceIndex device) {
  if (memory_fraction_fn_) {
    memory_fraction_fn_(fraction, device);
  }
}

void CUDAPluggableAllocator::emptyCache(c10::MempoolId_t /*mempool_id*/) {
  if (reset_fn_) {
    reset_fn_();
  }
}

void CUDAPluggableAllocator::enable(bool value) {
  TORCH_CHECK(value, "CUDAPluggableAllocator: whether it caches is its own affair and cannot be turned off");
}

bool CUDAPluggableAllocator::isEnabled() const {
  return true;
}

void CUDAPluggableAllocator::cacheInfo(c10::DeviceIndex /*device*/, size_t* /*largestBlock*/) {
  not_supported("cacheInfo");
}

void* CUDAPluggableAllocator::getBaseAllocation(void* ptr, size_t* size) {
  if (base_alloc_fn_) {
    return base_alloc_fn_(ptr, size);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = allocations_.find(ptr);
  TORCH_CHECK(found != allocations_.end(), "invalid device pointer: ", ptr);
  if (size != nullptr) {
    *size = found->second.size;
  }
  return ptr;
}

void CUDAPluggableAllocator::recordStream(const c10::DataPtr& ptr, c10::cuda::CUDAStream stream) {
  if (record_stream_fn_) {
    record_stream_fn_(ptr.get(), stream);
  }
}

// ---- pools of graphs -------------------------------------------------------------------------

void CUDAPluggableAllocator::beginAllocateToPool(
    c10::DeviceIndex device, c10::MempoolId_t mempool_id, std::function<bool(cudaStream_t)> filter) {
  if (begin_allocate_to_pool_fn_) {
    begin_allocate_to_pool_fn_(device, mempool_id, std::move(filter));
  }
}

void CUDAPluggableAllocator::endAllocateToPool(c10::DeviceIndex device, c10::MempoolId_t mempool_id) {
  if (end_allocate_to_pool_fn_) {
    end_allocate_to_pool_fn_(device, mempool_id);
  }
}

void CUDAPluggableAllocator::releasePool(c10::DeviceIndex device, c10::MempoolId_t mempool_id) {
  if (release_pool_fn_) {
    release_pool_fn_(device, mempool_id);
  }
}

// ---- what only the caching allocator has -------------------------------------------------------

int CUDAPluggableAllocator::getPoolUseCount(c10::DeviceIndex /*device*/, c10::MempoolId_t /*mempool_id*/) {
  not_supported("getPoolUseCount");
}
c10::CachingDeviceAllocator::DeviceStats CUDAPluggableAllocator::getDeviceStats(c10::DeviceIndex /*device*/) {
  not_supported("getDeviceStats");
}
void CUDAPluggableAllocator::resetAccumulatedStats(c10::DeviceIndex /*device*/) {
  not_supported("resetAccumulatedStats");
}
void CUDAPluggableAllocator::resetPeakStats(c10::DeviceIndex /*device*/) {
  not_supported("resetPeakStats");
}
c10::cuda::CUDACachingAllocator::SnapshotInfo CUDAPluggableAllocator::snapshot(
    c10::MempoolId_t /*mempool_id*/, bool /*include_traces*/) {
  not_supported("snapshot");
}
void CUDAPluggableAllocator::recordHistory(
    bool /*enabled*/,
    c10::CachingDeviceAllocator::CreateContextFn /*context_recorder*/,
    size_t /*alloc_trace_max_entries*/,
    c10::CachingDeviceAllocator::RecordContext /*when*/,
    bool /*clearHistory*/,
    const std::vector<std::string>& /*skip_actions*/) {
  not_supported("recordHistory");
}
bool CUDAPluggableAllocator::isHistoryEnabled() {
  return false;
}
void CUDAPluggableAllocator::attachAllocatorTraceTracker(
    c10::CachingDeviceAllocator::AllocatorTraceTracker /*tracker*/) {
  not_supported("attachAllocatorTraceTracker");
}
void CUDAPluggableAllocator::attachOutOfMemoryObserver(
    c10::cuda::CUDACachingAllocator::OutOfMemoryObserver /*observer*/) {
  not_supported("attachOutOfMemoryObserver");
}

// ---- between devices ---------------------------------------------------------------------------

void CUDAPluggableAllocator::enablePeerAccess(c10::DeviceIndex dev, c10::DeviceIndex dev_to_access) {
  const c10::cuda::CUDAGuard guard(dev);
  const cudaError_t error = cudaDeviceEnablePeerAccess(dev_to_access, 0);
  if (error == cudaErrorPeerAccessAlreadyEnabled) {
    C10_CUDA_CLEAR_ERROR();
  } else {
    C10_CUDA_CHECK(error);
  }
}

cudaError_t CUDAPluggableAllocator::memcpyAsync(
    void* dst, int dstDevice, const void* src, int srcDevice, size_t count, cudaStream_t stream, bool p2p_enabled) {
  return p2p_enabled || dstDevice == srcDevice ? cudaMemcpyAsync(dst, src, count, cudaMemcpyDeviceToDevice, stream)
                                               : cudaMemcpyPeerAsync(dst, dstDevice, src, srcDevice, count, stream);
}

std::string CUDAPluggableAllocator::name() {
  return "pluggable";
}

} // namespace torch::cuda::CUDAPluggableAllocator
