#include <c10/cuda/impl/EventPool.h>

#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>

#include <exception>
#include <memory>

namespace c10::cuda::impl {

PooledEvent* EventPool::take(DeviceIndex device) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (unused_.size() <= static_cast<size_t>(device)) {
      unused_.resize(static_cast<size_t>(device) + 1);
    }
    std::vector<PooledEvent*>& unused = unused_[static_cast<size_t>(device)];
    if (!unused.empty()) {
      PooledEvent* event = unused.back();
      unused.pop_back();
      return event;
    }
  }
  auto made = std::make_unique<PooledEvent>();
  made->device = device;
  C10_CUDA_CHECK(cudaEventCreateWithFlags(&made->event, cudaEventDisableTiming));
  return made.release();
}

PooledEvent* EventPool::record(DeviceIndex device, cudaStream_t stream) noexcept {
  PooledEvent* event = nullptr;
  try {
    const CUDAGuard guard(device);
    event = take(device);
    C10_CUDA_CHECK(cudaEventRecord(event->event, stream));
    return event;
  } catch (const std::exception& e) {
    TORCH_WARN("Could not mark the use of memory on a stream of cuda:", static_cast<int>(device), ": ", e.what());
    if (event != nullptr) {
      recycle(event);
    }
    return nullptr;
  }
}

bool EventPool::done(const PooledEvent& event) noexcept {
  // Asking for an event while some thread captures a graph would break the capture.
  const bool captured = captures_underway() != 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  if (C10_UNLIKELY(captured)) {
    C10_CUDA_IGNORE_ERROR(cudaThreadExchangeStreamCaptureMode(&mode));
  }
  const cudaError_t error = cudaEventQuery(event.event);
  if (error != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
  }
  if (C10_UNLIKELY(captured)) {
    C10_CUDA_IGNORE_ERROR(cudaThreadExchangeStreamCaptureMode(&mode));
  }
  return error != cudaErrorNotReady;
}

void EventPool::wait(const PooledEvent& event) noexcept {
  C10_CUDA_IGNORE_ERROR(cudaEventSynchronize(event.event));
}

void EventPool::recycle(PooledEvent* event) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  unused_[static_cast<size_t>(event->device)].push_back(event);
}

EventPool& EventPool::get() {
  // Never destroyed: memory is released until the very end of the process.
  static auto* const pool = new EventPool();
  return *pool;
}

} // namespace c10::cuda::impl
