// How libtorch's pointwise kernels share their elements among threads, for kernels of one's own.
#pragma once

#include <c10/macros/Macros.h>

#include <cstdint>

/// Before the arguments of a lambda that is called on the device: the host must see its types.
#ifndef GPU_LAMBDA
#define GPU_LAMBDA __host__ __device__
#endif

/// Threads of a block.
constexpr uint32_t num_threads() {
  return C10_WARP_SIZE * 4;
}
/// Elements of a thread.
constexpr int thread_work_size() {
  return 8;
}
/// Elements of a block.
constexpr int block_work_size() {
  return thread_work_size() * static_cast<int>(num_threads());
}
