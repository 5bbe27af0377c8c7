// A program that uses the CUDA runtime's names itself. Without a device they say why.
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/cuda.h>

#include <iostream>

int main() {
  const int64_t devices = at::cuda::getNumGPUs();
  if (static_cast<size_t>(devices) != torch::cuda::device_count()) {
    std::cout << "two answers to how many devices there are\n";
    return 1;
  }
  if (devices > 0) {
    const c10::cuda::CUDAGuard guard(0);
    std::cout << "ok: " << at::cuda::getCurrentDeviceProperties()->name << '\n';
    return 0;
  }
  try {
    const c10::cuda::CUDAGuard guard(0);
  } catch (const c10::Error& e) {
    std::cout << "ok: " << torch::cuda::unavailable_reason() << '\n';
    return 0;
  }
  std::cout << "a guard for a device that is not there\n";
  return 1;
}
