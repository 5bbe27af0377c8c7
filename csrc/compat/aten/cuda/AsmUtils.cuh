// Fields of bits, and a thread's place in its warp.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace at::cuda {

/// Reads and writes `len` bits from bit `pos` on of an unsigned int or uint64_t.
template <class T>
struct Bitfield {
  static __host__ __device__ __forceinline__ T getBitfield(T value, int pos, int len) {
    return (value >> pos) & mask(len);
  }
  static __host__ __device__ __forceinline__ T setBitfield(T value, T to_insert, int pos, int len) {
    const T field = mask(len) << pos;
    return (value & ~field) | ((to_insert << pos) & field);
  }

 private:
  static __host__ __device__ __forceinline__ T mask(int len) {
    return len >= static_cast<int>(8 * sizeof(T)) ? ~T(0) : (T(1) << len) - T(1);
  }
};

__device__ __forceinline__ int getLaneId() {
#if defined(__CUDA_ARCH__)
  int lane;
  asm("mov.s32 %0, %%laneid;" : "=r"(lane));
  return lane;
#else
  return static_cast<int>((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32);
#endif
}
/// Bits of the lanes before, up to, after and from the calling one.
__device__ __forceinline__ unsigned getLaneMaskLt() {
  return (1u << getLaneId()) - 1u;
}
__device__ __forceinline__ unsigned getLaneMaskLe() {
  return getLaneMaskLt() | (1u << getLaneId());
}
__device__ __forceinline__ unsigned getLaneMaskGt() {
  return ~getLaneMaskLe();
}
__device__ __forceinline__ unsigned getLaneMaskGe() {
  return ~getLaneMaskLt();
}

} // namespace at::cuda
