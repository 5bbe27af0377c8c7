#include <csrc/cuda/stable_shim.h>

#include <aten/cuda/CUDAContext.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <csrc/stable/guarded.h>

#include <cstdlib>
#include <cstring>
#include <limits>

namespace {

using torch::stable::detail::guarded;

c10::DeviceIndex stable_device(int32_t index) {
  TORCH_CHECK(
      index >= -1 && index <= std::numeric_limits<c10::DeviceIndex>::max(), "device index ", index,
      " is neither -1, the current device, nor that of a device");
  return static_cast<c10::DeviceIndex>(index == -1 ? c10::cuda::current_device() : index);
}

c10::cuda::CUDAStream stable_stream(void* stream, int32_t device_index) {
  return c10::cuda::getStreamFromExternal(static_cast<cudaStream_t>(stream), stable_device(device_index));
}

} // namespace

AOTITorchError aoti_torch_create_cuda_guard(int32_t device_index, CUDAGuardHandle* ret_guard) {
  return guarded(
      [&] { *ret_guard = reinterpret_cast<CUDAGuardHandle>(new c10::cuda::CUDAGuard(stable_device(device_index))); });
}
AOTITorchError aoti_torch_delete_cuda_guard(CUDAGuardHandle guard) {
  return guarded([&] { delete reinterpret_cast<c10::cuda::CUDAGuard*>(guard); });
}
AOTITorchError aoti_torch_cuda_guard_set_index(CUDAGuardHandle guard, int32_t device_index) {
  return guarded([&] {
    TORCH_CHECK(guard != nullptr, "the handle of a guard is null");
    reinterpret_cast<c10::cuda::CUDAGuard*>(guard)->set_index(stable_device(device_index));
  });
}
AOTITorchError aoti_torch_create_cuda_stream_guard(
    void* stream, int32_t device_index, CUDAStreamGuardHandle* ret_guard) {
  return guarded([&] {
    *ret_guard =
        reinterpret_cast<CUDAStreamGuardHandle>(new c10::cuda::CUDAStreamGuard(stable_stream(stream, device_index)));
  });
}
AOTITorchError aoti_torch_delete_cuda_stream_guard(CUDAStreamGuardHandle guard) {
  return guarded([&] { delete reinterpret_cast<c10::cuda::CUDAStreamGuard*>(guard); });
}

AOTITorchError aoti_torch_get_current_cuda_stream(int32_t device_index, void** ret_stream) {
  return guarded([&] { *ret_stream = c10::cuda::getCurrentCUDAStream(stable_device(device_index)).stream(); });
}
AOTITorchError torch_set_current_cuda_stream(void* stream, int32_t device_index) {
  return guarded([&] { c10::cuda::setCurrentCUDAStream(stable_stream(stream, device_index)); });
}
AOTITorchError torch_get_cuda_stream_from_pool(bool isHighPriority, int32_t device_index, void** ret_stream) {
  return guarded(
      [&] { *ret_stream = c10::cuda::getStreamFromPool(isHighPriority, stable_device(device_index)).stream(); });
}
AOTITorchError torch_cuda_stream_synchronize(void* stream, int32_t device_index) {
  return guarded([&] { stable_stream(stream, device_index).synchronize(); });
}
AOTITorchError torch_get_current_cuda_blas_handle(void** ret_handle) {
  return guarded([&] { *ret_handle = at::cuda::getCurrentCUDABlasHandle(); });
}

AOTITorchError aoti_torch_cuda_caching_allocator_raw_alloc(uint64_t nbytes, void** ret_ptr) {
  return guarded([&] { *ret_ptr = c10::cuda::CUDACachingAllocator::raw_alloc(nbytes); });
}
AOTITorchError aoti_torch_cuda_caching_allocator_raw_delete(void* ptr) {
  return guarded([&] { c10::cuda::CUDACachingAllocator::raw_delete(ptr); });
}

AOTITorchError torch_c10_cuda_check_msg(
    int32_t err,
    const char* filename,
    const char* function_name,
    uint32_t line_number,
    bool include_device_assertions,
    char** error_msg) {
  return guarded([&] {
    *error_msg = nullptr;
    if (err == cudaSuccess) {
      return;
    }
    try {
      c10::cuda::c10_cuda_check_implementation(err, filename, function_name, line_number, include_device_assertions);
    } catch (const c10::Error& error) {
      *error_msg = strdup(error.what());
    }
  });
}
void torch_c10_cuda_free_error_msg(char* error_msg) {
  std::free(error_msg);
}
