#pragma once

#include <aten/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include <memory>
#include <utility>

namespace at::cuda {

using c10::CaptureId_t;
using c10::MempoolId_t;

/// Memory of the current device that is apart from other memory: allocations go there between
/// beginAllocateToPool(device(), id(), ...) and endAllocateToPool(device(), id()) of the caching allocator. When the
/// pool ends its free memory goes back to the device.
struct MemPool {
  /// The caching allocator serves the pool; it has no others for single pools.
  explicit MemPool(
      std::shared_ptr<c10::cuda::CUDACachingAllocator::CUDAAllocator> allocator = nullptr, bool is_user_created = true)
      : id_(graph_pool_handle(is_user_created)), device_(c10::cuda::current_device()) {
    TORCH_CHECK_NOT_IMPLEMENTED(allocator == nullptr, "MemPool: a pool with an allocator of its own is not supported");
    c10::cuda::CUDACachingAllocator::beginAllocateToPool(device_, id_, [](cudaStream_t) { return false; });
    c10::cuda::CUDACachingAllocator::endAllocateToPool(device_, id_);
  }
  MemPool(MemPool&& other) noexcept : id_(std::exchange(other.id_, {0, 0})), device_(other.device_) {}
  MemPool& operator=(MemPool&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(device_, other.device_);
    return *this;
  }
  ~MemPool() {
    if (id_ != MempoolId_t(0, 0)) {
      c10::cuda::CUDACachingAllocator::releasePool(device_, id_);
      c10::cuda::CUDACachingAllocator::emptyCache(id_);
    }
  }

  MempoolId_t id() {
    return id_;
  }
  c10::DeviceIndex device() {
    return device_;
  }
  /// This pool, and who allocates to it or has not released it since.
  int use_count() {
    return c10::cuda::CUDACachingAllocator::getPoolUseCount(device_, id_);
  }
  /// An id that no other pool has.
  static MempoolId_t graph_pool_handle([[maybe_unused]] bool is_user_created = true) {
    return at::cuda::graph_pool_handle();
  }

 private:
  MempoolId_t id_;
  c10::DeviceIndex device_;
};

} // namespace at::cuda
