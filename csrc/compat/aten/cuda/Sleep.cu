#include <csrc/compat/aten/cuda/Sleep.h>

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

namespace at::cuda {

namespace {

__global__ void spin(std::int64_t cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

} // namespace

void sleep(int64_t cycles) {
  spin<<<1, 1, 0, c10::cuda::getCurrentCUDAStream().stream()>>>(cycles);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace at::cuda
