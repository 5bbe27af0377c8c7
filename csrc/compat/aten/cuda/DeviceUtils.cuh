// Exchange of values within a warp, for every type that fits registers.
#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>

#include <cuda_runtime.h>

#include <type_traits>

namespace at::cuda::detail {

/// Sends a value through `shuffle`, which takes the types that the hardware's shuffles take, CUDA's own 16-bit floats
/// too.
template <class T, class Shuffle>
__device__ __forceinline__ T shuffled(T value, Shuffle shuffle) {
  if constexpr (std::is_same_v<T, bool>) {
    return shuffle(static_cast<int>(value)) != 0;
  } else if constexpr (std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>) {
    return T(shuffle(value.x), T::from_bits());
  } else {
    return shuffle(value);
  }
}

template <class T, class Shuffle>
__device__ __forceinline__ c10::complex<T> shuffled(c10::complex<T> value, Shuffle shuffle) {
  return {shuffle(value.real()), shuffle(value.imag())};
}

} // namespace at::cuda::detail

__device__ __forceinline__ unsigned int ACTIVE_MASK() {
  return __activemask();
}

__device__ __forceinline__ void WARP_SYNC(unsigned mask = 0xffffffff) {
  __syncwarp(mask);
}

__device__ __forceinline__ unsigned int WARP_BALLOT(int predicate, unsigned int mask = 0xffffffff) {
  return __ballot_sync(mask, predicate);
}

template <typename T>
__device__ __forceinline__ T
WARP_SHFL_XOR(T value, int laneMask, int width = warpSize, unsigned int mask = 0xffffffff) {
  return at::cuda::detail::shuffled(value, [=](auto x) { return __shfl_xor_sync(mask, x, laneMask, width); });
}

template <typename T>
__device__ __forceinline__ T WARP_SHFL(T value, int srcLane, int width = warpSize, unsigned int mask = 0xffffffff) {
  return at::cuda::detail::shuffled(value, [=](auto x) { return __shfl_sync(mask, x, srcLane, width); });
}

template <typename T>
__device__ __forceinline__ T
WARP_SHFL_UP(T value, unsigned int delta, int width = warpSize, unsigned int mask = 0xffffffff) {
  return at::cuda::detail::shuffled(value, [=](auto x) { return __shfl_up_sync(mask, x, delta, width); });
}

template <typename T>
__device__ __forceinline__ T
WARP_SHFL_DOWN(T value, unsigned int delta, int width = warpSize, unsigned int mask = 0xffffffff) {
  return at::cuda::detail::shuffled(value, [=](auto x) { return __shfl_down_sync(mask, x, delta, width); });
}

/// A load through the read-only cache.
template <typename T>
__device__ __forceinline__ T doLdg(const T* p) {
  return __ldg(p);
}
