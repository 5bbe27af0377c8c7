// Grids of simple kernels over n elements.
#pragma once

#include <aten/cuda/CUDAContext.h>

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

namespace at::cuda {

/// a / b rounded up, for numbers not below zero.
template <typename T>
C10_HOST_DEVICE constexpr T ATenCeilDiv(T a, T b) {
  return (a + b - 1) / b;
}

constexpr uint32_t AT_APPLY_THREADS_PER_BLOCK = 512;
constexpr uint32_t AT_APPLY_BLOCKS_PER_SM = 4;

inline dim3 getApplyBlock(int max_threads_per_block = AT_APPLY_THREADS_PER_BLOCK) {
  return dim3(static_cast<unsigned>(max_threads_per_block));
}

/// At most enough blocks to fill the device; the kernel loops. False if there is no such device.
template <int step = 1>
inline bool getApplyGrid(
    uint64_t totalElements,
    dim3& grid,
    c10::DeviceIndex curDevice,
    int max_threads_per_block = AT_APPLY_THREADS_PER_BLOCK) {
  if (curDevice == -1) {
    return false;
  }
  const auto per_block = static_cast<uint64_t>(max_threads_per_block) * step;
  const uint64_t fill = uint64_t{AT_APPLY_BLOCKS_PER_SM} * getDeviceProperties(curDevice)->multiProcessorCount;
  grid = dim3(static_cast<unsigned>(std::min(ATenCeilDiv(totalElements, per_block), fill)));
  return true;
}

} // namespace at::cuda
