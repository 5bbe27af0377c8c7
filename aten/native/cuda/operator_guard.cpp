#include <aten/native/cuda/operator_guard.h>

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/impl/CUDAGuardImpl.h>
#include <c10/cuda/impl/RecentOperators.h>

namespace at::native::cuda {

c10::DeviceIndex OperatorGuard::enter(const char* op, c10::DeviceIndex device) {
  c10::cuda::impl::note_operator(op);
  c10::DeviceIndex before = -1;
  C10_CUDA_CHECK(c10::cuda::GetDevice(&before));
  if (before == device) [[likely]] {
    c10::cuda::SetTargetDevice(); // the thread may only mean to be there
    return -1;
  }
  c10::cuda::set_device(device);
  return before;
}

void OperatorGuard::leave(c10::DeviceIndex device) noexcept {
  c10::cuda::impl::CUDAGuardImpl().uncheckedSetDevice(c10::Device(c10::DeviceType::CUDA, device));
}

} // namespace at::native::cuda
