// Sums, maxima and other reductions of a warp and of a block, for kernels of one's own. The first thread has the
// result. A block's threads are a multiple of a warp's and all of them call; `shared` has an element for each warp.
#pragma once

#include <csrc/compat/aten/NumericUtils.h>
#include <csrc/compat/aten/cuda/DeviceUtils.cuh>

#include <limits>

namespace at::native::cuda_utils {

constexpr int kCUDABlockReduceNumThreads = 512;
/// Beyond that one warp cannot combine what the warps have.
constexpr int kCUDABlockReduceMaxThreads() {
  return C10_WARP_SIZE * C10_WARP_SIZE;
}

/// The thread's number in a block of one dimension, and the block's warps.
struct Block1D {
  static __device__ __forceinline__ int Tid() {
    return static_cast<int>(threadIdx.x);
  }
  static __device__ __forceinline__ int Warps() {
    return static_cast<int>(blockDim.x) / C10_WARP_SIZE;
  }
};
struct Block2D {
  static __device__ __forceinline__ int Tid() {
    return static_cast<int>(threadIdx.x + threadIdx.y * blockDim.x);
  }
  static __device__ __forceinline__ int Warps() {
    return static_cast<int>(blockDim.x * blockDim.y) / C10_WARP_SIZE;
  }
};

/// `op` has combine(a, b) and warp_shfl_down(value, offset).
template <class T, class ReduceOp>
__device__ __forceinline__ T WarpReduce(T val, const ReduceOp& op) {
#pragma unroll
  for (int offset = C10_WARP_SIZE / 2; offset > 0; offset /= 2) {
    val = op.combine(val, op.warp_shfl_down(val, offset));
  }
  return val;
}

template <class T, class ReduceOp, class B = Block1D>
__device__ __forceinline__ T BlockReduce(T val, const ReduceOp& op, const T& identity_element, T* shared) {
  const int thread = B::Tid(), lane = thread % C10_WARP_SIZE, warp = thread / C10_WARP_SIZE;
  val = WarpReduce(val, op);
  __syncthreads(); // A call before may still be reading.
  if (lane == 0) {
    shared[warp] = val;
  }
  __syncthreads();
  val = thread < B::Warps() ? shared[lane] : identity_element;
  return warp == 0 ? WarpReduce(val, op) : val;
}

namespace detail {

template <class T>
struct Shuffle {
  __device__ __forceinline__ T warp_shfl_down(T value, int offset) const {
    return WARP_SHFL_DOWN(value, offset);
  }
};

template <class T>
struct Sum : Shuffle<T> {
  __device__ __forceinline__ T combine(T a, T b) const {
    return a + b;
  }
};

/// NaN wins.
template <class T>
struct Maximum : Shuffle<T> {
  __device__ __forceinline__ T combine(T a, T b) const {
    return at::_isnan(a) || !(at::_isnan(b) || a < b) ? a : b;
  }
};

} // namespace detail

template <class T>
__device__ __forceinline__ T WarpReduceSum(T val) {
  return WarpReduce(val, detail::Sum<T>());
}
template <class T>
__device__ __forceinline__ T WarpReduceMax(T val) {
  return WarpReduce(val, detail::Maximum<T>());
}
template <class T, class B = Block1D>
__device__ __forceinline__ T BlockReduceSum(T val, T* shared) {
  return BlockReduce<T, detail::Sum<T>, B>(val, detail::Sum<T>(), T(0), shared);
}
template <class T, class B = Block1D>
__device__ __forceinline__ T BlockReduceMax(T val, T* shared) {
  return BlockReduce<T, detail::Maximum<T>, B>(val, detail::Maximum<T>(), T(std::numeric_limits<T>::lowest()), shared);
}

} // namespace at::native::cuda_utils
