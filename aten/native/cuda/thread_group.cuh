// Reductions over the threads of a warp or a block, for values of any plain type.
#pragma once

#include <cstdint>
#include <cstring>

namespace at::native::cuda {

inline constexpr unsigned kAllLanes = 0xffffffffu;

/// The value of the lane whose number differs in the bits of `mask`.
template <class T>
__device__ inline T exchange(const T& value, int mask) {
  static_assert(sizeof(T) % 4 == 0);
  constexpr int kWords = sizeof(T) / 4;
  std::uint32_t words[kWords];
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    words[i] = __shfl_xor_sync(kAllLanes, words[i], mask);
  }
  T result;
  memcpy(&result, words, sizeof(T));
  return result;
}

/// Threads that work on one row together: a warp, or a whole block. All get the result of a reduction.
template <bool WholeBlock>
struct ThreadGroup {
  static __device__ int size() {
    return WholeBlock ? blockDim.x : 32;
  }
  static __device__ int rank() {
    return WholeBlock ? threadIdx.x : threadIdx.x % 32;
  }
  /// The row of this group.
  static __device__ std::int64_t row() {
    return WholeBlock ? blockIdx.x : static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  }

  template <class T, class Combine>
  static __device__ T reduce(T value, Combine combine) {
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2) {
      value = combine(value, exchange(value, mask));
    }
    if constexpr (WholeBlock) {
      __shared__ alignas(16) char memory[32 * sizeof(T)];
      T* parts = reinterpret_cast<T*>(memory);
      __syncthreads(); // of an earlier reduction, all have read
      if (threadIdx.x % 32 == 0) {
        parts[threadIdx.x / 32] = value;
      }
      __syncthreads();
      value = parts[0];
      for (unsigned i = 1; i < blockDim.x / 32; ++i) {
        value = combine(value, parts[i]);
      }
    }
    return value;
  }
};

struct Add {
  template <class T>
  __device__ T operator()(const T& a, const T& b) const {
    return a + b;
  }
};

/// Rows up to this length are given to warps, longer ones to blocks.
inline constexpr std::int64_t kWarpRow = 1024;

/// Threads of a block for rows of `size` elements.
inline constexpr unsigned kMaxGroupThreads = 512;
inline unsigned group_threads(std::int64_t size) {
  return size <= kWarpRow ? 128 : size <= 4096 ? 256 : kMaxGroupThreads;
}
inline unsigned group_blocks(std::int64_t rows, std::int64_t size) {
  return static_cast<unsigned>(size <= kWarpRow ? (rows + 3) / 4 : rows);
}

} // namespace at::native::cuda
