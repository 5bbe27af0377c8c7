#include <c10/cuda/impl/CUDAGuardImpl.h>

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/impl/AfterWait.h>

#include <exception>

namespace c10::cuda::impl {
namespace {

C10_REGISTER_GUARD_IMPL(CUDA, CUDAGuardImpl)

cudaEvent_t cuda_event(void* event) {
  return static_cast<cudaEvent_t>(event);
}

bool done(cudaError_t error) {
  if (error == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  C10_CUDA_CHECK(error);
  return true;
}

} // namespace

void CUDAGuardImpl::uncheckedSetDevice(Device d) const noexcept {
  try {
    C10_CUDA_CHECK_WARN(MaybeSetDevice(d.index()));
  } catch (const std::exception& e) {
    TORCH_WARN("Could not return to device ", d, ": ", e.what());
  }
}

Stream CUDAGuardImpl::exchangeStream(Stream s) const {
  const Stream before = getCurrentCUDAStream(s.device_index()).unwrap();
  setCurrentCUDAStream(CUDAStream(s));
  return before;
}

void* CUDAGuardImpl::getStreamNativeHandle(const Stream s) const {
  return CUDAStream(s).stream();
}

bool CUDAGuardImpl::queryStream(const Stream& stream) const {
  return CUDAStream(stream).query();
}

void CUDAGuardImpl::synchronizeStream(const Stream& stream) const {
  CUDAStream(stream).synchronize();
}

bool CUDAGuardImpl::isStreamCapturing(const Stream& stream) const {
  return CUDAStream(stream).is_capturing();
}

void CUDAGuardImpl::record(
    void** event, const Stream& stream, const DeviceIndex device_index, const EventFlag flag) const {
  TORCH_CHECK(
      device_index == -1 || device_index == stream.device_index(), "Event device index ",
      static_cast<int>(device_index), " does not match recording stream's device index ",
      static_cast<int>(stream.device_index()), ".");
  const CUDAGuard guard(stream.device());
  if (*event == nullptr) {
    cudaEvent_t made = nullptr;
    const unsigned int flags = flag == EventFlag::BACKEND_DEFAULT ? cudaEventDefault : cudaEventDisableTiming;
    C10_CUDA_CHECK(cudaEventCreateWithFlags(&made, flags));
    *event = made;
  }
  C10_CUDA_CHECK(cudaEventRecord(cuda_event(*event), CUDAStream(stream).stream()));
}

void CUDAGuardImpl::block(void* event, const Stream& stream) const {
  if (event != nullptr) {
    const CUDAGuard guard(stream.device());
    C10_CUDA_CHECK(cudaStreamWaitEvent(CUDAStream(stream).stream(), cuda_event(event), 0));
  }
}

bool CUDAGuardImpl::queryEvent(void* event) const {
  return event == nullptr || done(cudaEventQuery(cuda_event(event)));
}

void CUDAGuardImpl::synchronizeEvent(void* event) const {
  if (event != nullptr) {
    C10_CUDA_CHECK(cudaEventSynchronize(cuda_event(event)));
    after_wait();
  }
}

void CUDAGuardImpl::destroyEvent(void* event, const DeviceIndex /*device_index*/) const noexcept {
  if (event != nullptr) {
    C10_CUDA_IGNORE_ERROR(cudaEventDestroy(cuda_event(event)));
  }
}

double CUDAGuardImpl::elapsedTime(void* event1, void* event2, const DeviceIndex device_index) const {
  TORCH_CHECK(event1 != nullptr && event2 != nullptr, "Both events must be recorded before calculating elapsed time.");
  const CUDAGuard guard(device_index);
  float milliseconds = 0;
  C10_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, cuda_event(event1), cuda_event(event2)));
  return milliseconds;
}

void CUDAGuardImpl::synchronizeDevice(const DeviceIndex device_index) const {
  const CUDAGuard guard(device_index);
  device_synchronize();
}

void CUDAGuardImpl::recordDataPtrOnStream(const c10::DataPtr& data, const Stream& stream) const {
  CUDACachingAllocator::recordStream(data, CUDAStream(stream));
}

} // namespace c10::cuda::impl
