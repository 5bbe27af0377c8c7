// Instructions of tensor cores and what feeds them (sm_80 and later). test/cuda/emulated/tensor_core.h does the same on
// the host.
#pragma once

#include <c10/cuda/CUDAException.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace at::native::cuda {

// Note [Fragments]
// A warp multiplies a (16 x 16, 16-bit) by b (16 x 8) and adds to c (16 x 8, float). With g = lane / 4 and t = lane %
// 4, a lane holds of
//   a: words of two neighbours: (g, 2t), (g + 8, 2t), (g, 2t + 8), (g + 8, 2t + 8);
//   b: words of two from above each other: (2t, g), (2t + 8, g);
//   c: (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1).
// So the c of two products side by side, rounded to 16 bits, is an a.

#if defined(__CUDACC__)

template <class T>
__device__ inline void multiply_add(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  if constexpr (std::is_same_v<T, c10::Half>) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
}

/// A byte of shared memory, in its own 32-bit addresses.
using SharedAddress = std::uint32_t;
__device__ inline SharedAddress shared_address(const void* memory) {
  return static_cast<SharedAddress>(__cvta_generic_to_shared(memory));
}

/// The shared memory that launch_with_memory() gives a block.
template <int Bytes>
__device__ inline unsigned char* dynamic_memory() {
  extern __shared__ uint4 dynamic_bytes[];
  return reinterpret_cast<unsigned char*>(dynamic_bytes);
}

/// Starts a kernel whose blocks have `bytes` of dynamic_memory(), also more than the 48 KiB that need no asking.
template <class Arguments>
void launch_with_memory(
    void (*kernel)(Arguments),
    unsigned blocks,
    unsigned threads,
    int bytes,
    cudaStream_t stream,
    const Arguments& arguments) {
  const void* const function = reinterpret_cast<const void*>(kernel);
  C10_CUDA_CHECK(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  void* pointers[] = {const_cast<Arguments*>(&arguments)};
  C10_CUDA_CHECK(
      cudaLaunchKernel(function, dim3(blocks), dim3(threads), pointers, static_cast<std::size_t>(bytes), stream));
}

/// Four matrices of 8 x 8: lanes 8i to 8i + 7 name the rows of number i. Of each, a lane gets (g, 2t) and its right
/// neighbour.
__device__ inline void load_matrices(std::uint32_t (&r)[4], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row)
               : "memory");
}

__device__ inline void load_matrices(std::uint32_t (&r)[4], const void* row) {
  load_matrices(r, shared_address(row));
}

/// The same of the matrices transposed: (2t, g) and what is below it.
__device__ inline void load_matrices_transposed(std::uint32_t (&r)[4], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row)
               : "memory");
}

__device__ inline void load_matrices_transposed(std::uint32_t (&r)[4], const void* row) {
  load_matrices_transposed(r, shared_address(row));
}

/// 16 bytes to shared memory, or zeros; behind the thread's back, until cp_async_wait_all() or cp_async_wait_group().
__device__ inline void copy_16_bytes(SharedAddress to, const void* from, bool there) {
  const int bytes = there ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
__device__ inline void copy_16_bytes(void* to, const void* from, bool there) {
  copy_16_bytes(shared_address(to), from, there);
}

/// Waits for the copies of this thread; __syncthreads() then shows them to the others.
__device__ inline void cp_async_wait_all() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

/// `Bytes` (4, 8 or 16) to shared memory, or zeros; like copy_16_bytes.
template <int Bytes>
__device__ inline void copy_bytes(void* to, const void* from, bool there) {
  if constexpr (Bytes == 16) {
    copy_16_bytes(to, from, there);
  } else {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
    const int bytes = there ? Bytes : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from), "n"(Bytes), "r"(bytes)
                 : "memory");
  }
}

/// What the thread has copied since the last call becomes a group, which cp_async_wait_group() counts.
__device__ inline void end_copy_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits for all groups but the last `Groups`.
template <int Groups>
__device__ inline void cp_async_wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
}

/// The bits of a float, rounded to the 10 bits of mantissa that TF32 has.
__device__ inline std::uint32_t to_tf32(std::uint32_t bits) {
  std::uint32_t rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(__uint_as_float(bits)));
  return rounded;
}

/// c (16 x 8, float) += a (16 x 8) b (8 x 8) in TF32. A lane holds of a: (g, t), (g + 8, t), (g, t + 4), (g + 8, t +
/// 4); of b: (t, g), (t + 4, g); c as in Note [Fragments].
__device__ inline void multiply_add_tf32(
    float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Whether any lane of the warp says so.
__device__ inline bool any_lane(bool yes) {
  return __any_sync(0xffffffffu, yes);
}

/// 2 ^ x in one instruction, to two units in the last place; 0 for what would be denormal.
__device__ inline float exp2_approximate(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// 128 floats in memory, to which the lanes of a warp add four each; which is whose is the device's affair. In any
/// order with what others add.
__device__ inline void add_lane_sums(float* to, const float (&x)[4]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#if __CUDA_ARCH__ >= 900
  atomicAdd(reinterpret_cast<float4*>(to) + lane, make_float4(x[0], x[1], x[2], x[3]));
#else
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    atomicAdd(to + 32 * i + lane, x[i]);
  }
#endif
}
/// Adds to x what the sums are.
__device__ inline void take_lane_sums(float (&x)[4], const float* from) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#if __CUDA_ARCH__ >= 900
  const float4 four = reinterpret_cast<const float4*>(from)[lane];
  x[0] += four.x;
  x[1] += four.y;
  x[2] += four.z;
  x[3] += four.w;
#else
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    x[i] += from[32 * i + lane];
  }
#endif
}

/// Two numbers rounded to 16 bits, the first in the lower half.
template <class T>
__device__ inline std::uint32_t pack(float first, float second) {
  std::uint32_t word;
  if constexpr (std::is_same_v<T, c10::Half>) {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
  } else {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
  }
  return word;
}

#else

using emulator::add_lane_sums;
using emulator::any_lane;
using emulator::cp_async_wait_all;
using emulator::cp_async_wait_group;
using emulator::copy_16_bytes;
using emulator::copy_bytes;
using emulator::dynamic_memory;
using emulator::end_copy_group;
using emulator::exp2_approximate;
using emulator::launch_with_memory;
using emulator::load_matrices;
using emulator::load_matrices_transposed;
using emulator::multiply_add;
using emulator::multiply_add_tf32;
using emulator::pack;
using emulator::shared_address;
using emulator::take_lane_sums;
using emulator::to_tf32;
using emulator::SharedAddress;

#endif

} // namespace at::native::cuda
