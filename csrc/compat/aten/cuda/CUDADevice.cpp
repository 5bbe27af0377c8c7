#include <csrc/compat/aten/cuda/CUDADevice.h>

#include <c10/cuda/CUDAException.h>

namespace at::cuda {

c10::Device getDeviceFromPtr(void* ptr) {
  cudaPointerAttributes attributes{};
  C10_CUDA_CHECK(cudaPointerGetAttributes(&attributes, ptr));
  TORCH_CHECK(
      attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged,
      "The specified pointer resides on host memory and is not registered with any CUDA device.");
  return {c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(attributes.device)};
}

} // namespace at::cuda
