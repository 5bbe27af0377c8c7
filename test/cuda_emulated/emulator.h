// Runs CUDA kernels on the host, one thread after the other: slow and sure. Included before every translated source.
//
// The threads of a block are coroutines. Each runs to its next barrier or exchange, then the next one does; so everything
// that all threads (or all lanes of a warp) do together happens in rounds. That holds for kernels whose threads meet the
// same barriers in the same order, as CUDA asks of them anyway.
#pragma once

#include <cuda_runtime.h>
#include <curand_kernel.h> // declares threadIdx and the like, before they are something else

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>

#undef __noinline__
#define __noinline__
#undef __launch_bounds__
#define __launch_bounds__(...)

namespace emulator {

struct Position {
  unsigned x = 0, y = 0, z = 0;
};

/// Where the running thread is.
extern Position thread_index, block_index;
extern dim3 block_size, grid_size;

/// Runs `thread` for each thread of each block.
void launch_grid(dim3 blocks, dim3 threads, const std::function<void()>& thread);
inline void launch(dim3 blocks, dim3 threads, const std::function<void()>& thread) {
  launch_grid(blocks, threads, thread);
}

/// Lets all other threads come as far.
void barrier();
/// A place for each thread of the block to leave a word for others.
std::uint32_t& mailbox(unsigned thread);
unsigned linear_thread();

inline std::uint32_t exchange(std::uint32_t value, unsigned from) {
  mailbox(linear_thread()) = value;
  barrier();
  const std::uint32_t result = mailbox(from);
  barrier();
  return result;
}

} // namespace emulator

#define threadIdx ::emulator::thread_index
#define blockIdx ::emulator::block_index
#define blockDim ::emulator::block_size
#define gridDim ::emulator::grid_size

inline void __syncthreads() {
  ::emulator::barrier();
}
inline void __threadfence_system() {}

inline std::uint32_t __shfl_xor_sync(unsigned, std::uint32_t value, int mask) {
  return ::emulator::exchange(value, ::emulator::linear_thread() ^ static_cast<unsigned>(mask));
}
inline std::uint32_t __shfl_up_sync(unsigned, std::uint32_t value, int distance) {
  const unsigned own = ::emulator::linear_thread();
  return ::emulator::exchange(value, own % 32 >= static_cast<unsigned>(distance) ? own - distance : own);
}

namespace emulator {
/// Atomic additions and swaps so far: where there are none, the order of threads does not matter.
extern long atomics;
} // namespace emulator

template <class T>
T atomicAdd(T* to, T x) {
  ++::emulator::atomics;
  const T old = *to;
  *to = static_cast<T>(old + x);
  return old;
}
template <class T>
T atomicCAS(T* to, T expected, T desired) {
  ++::emulator::atomics;
  const T old = *to;
  if (old == expected) {
    *to = desired;
  }
  return old;
}

#include "test/cuda_emulated/tensor_core.h"
