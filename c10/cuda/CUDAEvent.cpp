#include <c10/cuda/CUDAEvent.h>

#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/impl/AfterWait.h>

#include <utility>

namespace c10::cuda {

CUDAEvent::CUDAEvent(DeviceIndex device_index, const cudaIpcEventHandle_t* handle) : device_index_(device_index) {
  const CUDAGuard guard(device_index);
  C10_CUDA_CHECK(cudaIpcOpenEventHandle(&event_, *handle));
}

CUDAEvent::CUDAEvent(CUDAEvent&& other) noexcept
    : flags_(other.flags_),
      was_recorded_(std::exchange(other.was_recorded_, false)),
      device_index_(other.device_index_),
      event_(std::exchange(other.event_, nullptr)) {}

CUDAEvent& CUDAEvent::operator=(CUDAEvent&& other) noexcept {
  std::swap(flags_, other.flags_);
  std::swap(was_recorded_, other.was_recorded_);
  std::swap(device_index_, other.device_index_);
  std::swap(event_, other.event_);
  return *this;
}

CUDAEvent::~CUDAEvent() {
  if (event_ != nullptr) {
    // At the end of the process the runtime may be gone already: then the event is, too.
    C10_CUDA_IGNORE_ERROR(cudaEventDestroy(event_));
  }
}

void CUDAEvent::create(DeviceIndex device_index) {
  if (!isCreated()) {
    const CUDAGuard guard(device_index);
    C10_CUDA_CHECK(cudaEventCreateWithFlags(&event_, flags_));
    device_index_ = guard.current_device().index();
  }
}

void CUDAEvent::record() {
  record(getCurrentCUDAStream());
}

void CUDAEvent::record(const CUDAStream& stream) {
  create(stream.device_index());
  TORCH_CHECK(
      device_index_ == stream.device_index(), "Event device ", static_cast<int>(device_index_),
      " does not match recording stream's device ", static_cast<int>(stream.device_index()), ".");
  const CUDAGuard guard(device_index_);
  C10_CUDA_CHECK(cudaEventRecord(event_, stream.stream()));
  was_recorded_ = true;
}

void CUDAEvent::block(const CUDAStream& stream) {
  if (isCreated()) {
    const CUDAGuard guard(stream.device_index());
    C10_CUDA_CHECK(cudaStreamWaitEvent(stream.stream(), event_, 0));
  }
}

bool CUDAEvent::query() const {
  if (!isCreated()) {
    return true;
  }
  const cudaError_t error = cudaEventQuery(event_);
  if (error == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  C10_CUDA_CHECK(error);
  return true;
}

void CUDAEvent::synchronize() const {
  if (isCreated()) {
    assert_not_capturing("Waiting for an event");
    C10_CUDA_CHECK(cudaEventSynchronize(event_));
    impl::after_wait();
  }
}

float CUDAEvent::elapsed_time(const CUDAEvent& other) const {
  TORCH_CHECK_VALUE(
      (flags_ & cudaEventDisableTiming) == 0 && (other.flags_ & cudaEventDisableTiming) == 0,
      "Both events must be created with argument 'enable_timing=True'.");
  TORCH_CHECK_VALUE(isCreated() && other.isCreated(), "Both events must be recorded before calculating elapsed time.");
  TORCH_CHECK(query() && other.query(), "Both events must be completed before calculating elapsed time.");
  const CUDAGuard guard(device_index_);
  float milliseconds = 0;
  C10_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, event_, other.event_));
  return milliseconds;
}

void CUDAEvent::ipc_handle(cudaIpcEventHandle_t* handle) {
  create(current_device());
  const CUDAGuard guard(device_index_);
  C10_CUDA_CHECK(cudaIpcGetEventHandle(handle, event_));
}

} // namespace c10::cuda
