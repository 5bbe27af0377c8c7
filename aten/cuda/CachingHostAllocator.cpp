#include <aten/cuda/CachingHostAllocator.h>

#include <aten/core/pinned_memory.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/impl/EventPool.h>
#include <c10/cuda/impl/HostMemoryPool.h>

#include <optional>

namespace at::cuda {
namespace {

using c10::cuda::impl::HostMemoryPool;

class Driver final : public c10::cuda::impl::CudaEvents<c10::cuda::impl::HostMemoryDriver> {
 public:
  void* allocate(size_t bytes) override {
    TORCH_CHECK(
        c10::cuda::device_count() > 0, "Cannot pin memory: no CUDA device can be used, because ",
        c10::cuda::device_count_failure(), ".");
    // Pinning needs a context; one that is there already saves the memory of another. All devices can use the memory.
    const c10::cuda::OptionalCUDAGuard guard(c10::cuda::getDeviceIndexWithPrimaryContext());
    const c10::cuda::CUDAStreamCaptureModeGuard relaxed(cudaStreamCaptureModeRelaxed);
    void* address = nullptr;
    const cudaError_t error = cudaHostAlloc(&address, bytes, cudaHostAllocDefault);
    if (error == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());
      TORCH_CHECK_WITH(
          OutOfMemoryError, false, "CUDA out of memory. Tried to allocate ", c10::CachingAllocator::format_size(bytes),
          " of pinned host memory.");
    }
    C10_CUDA_CHECK(error);
    return address;
  }
  void release(void* address) noexcept override {
    // A thread may be capturing elsewhere.
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    C10_CUDA_IGNORE_ERROR(cudaThreadExchangeStreamCaptureMode(&mode));
    C10_CUDA_IGNORE_ERROR(cudaFreeHost(address));
    C10_CUDA_IGNORE_ERROR(cudaThreadExchangeStreamCaptureMode(&mode));
  }
  c10::CaptureId_t capture_of(c10::cuda::impl::DeviceStream stream) noexcept override {
    if (C10_LIKELY(c10::cuda::captures_underway() == 0)) {
      return 0;
    }
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    c10::CaptureId_t id = 0;
    const auto handle = static_cast<cudaStream_t>(stream.handle);
    const cudaError_t error = cudaStreamGetCaptureInfo(handle, &status, &id, nullptr, nullptr, nullptr, nullptr);
    if (error != cudaSuccess) {
      static_cast<void>(cudaGetLastError()); // the default stream, while a stream that waits for it is captured
    }
    return error == cudaSuccess && status != cudaStreamCaptureStatusNone ? id : 0;
  }
};

/// Never destroyed, as tensors may outlive it.
HostMemoryPool& pool() {
  static auto* const driver = new Driver();
  static auto* const pool = new HostMemoryPool(*driver);
  return *pool;
}

void delete_block(void* address) {
  if (address != nullptr && !pool().release(address)) {
    TORCH_WARN("invalid pointer: ", address, " was released, but the allocator of pinned memory did not give it");
  }
}

struct HostAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t n) override {
    void* address = n != 0 ? pool().allocate(n) : nullptr;
    return {address, address, &delete_block, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return &delete_block;
  }
};

[[maybe_unused]] const bool registered = [] {
  at::detail::register_pinned_memory(
      c10::DeviceType::CUDA, {.allocator = &getCachingHostAllocator, .is_pinned = &isPinnedPtr});
  return true;
}();

} // namespace

c10::Allocator* getCachingHostAllocator() {
  static auto* const allocator = new HostAllocator();
  return allocator;
}

bool CachingHostAllocator_recordEvent(void* ptr, void* ctx, c10::cuda::CUDAStream stream) {
  const c10::cuda::impl::DeviceStream used{stream.device_index(), stream.stream()};
  return pool().record_stream(ptr, used) || (ctx != nullptr && pool().record_stream(ctx, used));
}

void CachingHostAllocator_releaseCapture(c10::CaptureId_t id, std::optional<c10::cuda::CUDAStream> last_replay) {
  std::optional<c10::cuda::impl::DeviceStream> stream;
  if (last_replay) {
    stream = {last_replay->device_index(), last_replay->stream()};
  }
  pool().release_capture(id, stream);
}

void CachingHostAllocator_emptyCache() {
  pool().empty_cache();
}

bool isPinnedPtr(const void* data) {
  if (data == nullptr || c10::cuda::device_count() == 0) {
    return false;
  }
  if (pool().owns(data)) {
    return true;
  }
  // Without a context nothing is pinned yet, and asking would make one.
  const std::optional<c10::DeviceIndex> device = c10::cuda::getDeviceIndexWithPrimaryContext();
  if (!device) {
    return false;
  }
  const c10::cuda::CUDAGuard guard(*device);
  cudaPointerAttributes attributes{};
  const cudaError_t error = cudaPointerGetAttributes(&attributes, data);
  if (error != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  return attributes.type == cudaMemoryTypeHost;
}

} // namespace at::cuda
