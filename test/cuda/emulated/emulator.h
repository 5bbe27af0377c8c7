// Runs CUDA kernels on the host, one thread after the other: slow and sure. Included before every translated source.
//
// A launch copies the kernel's arguments and leaves the rest to submit().
//
// The threads of a block are coroutines. A warp runs until all its lanes wait at a barrier of the block; in between,
// each lane runs to its next exchange with the others. Then the next warp does. Blocks, warps and lanes come in the
// order of their numbers, in the opposite one, or shuffled, launch by launch (TENSOR_EMULATOR_ORDER=forward, reverse or
// shuffled says which of them for all): a kernel that lacks a barrier reads what is not there yet, or not there any
// more.
//
// Each block finds its shared memory full of NaN and -1. What a device would not do is an exception: lanes that wait
// for one that has left or that waits elsewhere, and writing beside an array of shared memory.
#pragma once

#include "test/cuda/emulated/submit.h"

#include <cuda_runtime.h>
#include <curand_kernel.h> // declares threadIdx and the like, before they are something else

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>

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
/// Throws if a device would refuse to launch so many threads.
void check_grid(dim3 blocks, dim3 threads);
/// Throws if a device has not so many bytes for a block.
void check_shared_memory(int bytes);

/// kernel<<<blocks, threads, 0, stream>>>(arguments...)
template <class Kernel, class... Arguments>
void launch(dim3 blocks, dim3 threads, cudaStream_t stream, Kernel kernel, const Arguments&... arguments) {
  check_grid(blocks, threads);
  submit(stream, [blocks, threads, kernel, kept = std::make_tuple(arguments...)] {
    launch_grid(blocks, threads, [&] { std::apply(kernel, kept); });
  });
}

/// Lets all other threads of the block come as far.
void barrier();
/// Lets the other lanes of the warp come as far.
void warp_barrier();
/// A place for each thread of the block to leave a word for others.
std::uint32_t& mailbox(unsigned thread);
unsigned linear_thread();

inline std::uint32_t exchange(std::uint32_t value, unsigned from) {
  mailbox(linear_thread()) = value;
  warp_barrier();
  const std::uint32_t result = mailbox(from);
  warp_barrier();
  return result;
}

/// Copies some bytes, or zeros, when the running thread comes to cp_async_wait_all(), or to a cp_async_wait_group()
/// that counts their group.
void copy_some_bytes(void* to, const void* from, std::size_t bytes, bool there);
inline void copy_16_bytes(void* to, const void* from, bool there) {
  copy_some_bytes(to, from, 16, there);
}
void end_copy_group();
void cp_async_wait_group(unsigned groups);
void cp_async_wait_all();

/// Memory between guards, which the running block is the first to use if it enters it first.
void enter_shared(unsigned char* memory, std::size_t bytes, std::uint64_t& last_block);
inline constexpr std::size_t kGuard = 64;

/// An array of shared memory.
template <class T>
class Shared {
 public:
  T& enter() {
    enter_shared(memory_, sizeof(T), last_block_);
    return reinterpret_cast<T&>(memory_[kGuard]);
  }

 private:
  alignas(16) unsigned char memory_[kGuard + sizeof(T) + kGuard];
  std::uint64_t last_block_ = 0;
};

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

#include "test/cuda/emulated/tensor_core.h"
