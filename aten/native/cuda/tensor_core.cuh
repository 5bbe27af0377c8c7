// Instructions of tensor cores and what feeds them (sm_80 and later). test/cuda_emulated/tensor_core.h does the same on the
// host.
#pragma once

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <cstdint>
#include <type_traits>

namespace at::native::cuda {

// Note [Fragments]
// A warp multiplies a (16 x 16, 16-bit) by b (16 x 8) and adds to c (16 x 8, float). With g = lane / 4 and t = lane % 4, a
// lane holds of
//   a: words of two neighbours: (g, 2t), (g + 8, 2t), (g, 2t + 8), (g + 8, 2t + 8);
//   b: words of two from above each other: (2t, g), (2t + 8, g);
//   c: (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1).
// So the c of two products side by side, rounded to 16 bits, is an a.

#if defined(__CUDACC__)

template <class T>
__device__ inline void multiply_add(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  if constexpr (std::is_same_v<T, c10::Half>) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
}

/// Four matrices of 8 x 8: lanes 8i to 8i + 7 name the rows of number i, in shared memory. Of each, a lane gets (g, 2t) and
/// its right neighbour.
__device__ inline void load_matrices(std::uint32_t (&r)[4], const void* row) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

/// The same of the matrices transposed: (2t, g) and what is below it.
__device__ inline void load_matrices_transposed(std::uint32_t (&r)[4], const void* row) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

/// 16 bytes to shared memory, or zeros; behind the thread's back, until copies_done().
__device__ inline void copy_16_bytes(void* to, const void* from, bool there) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  const int bytes = there ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes) : "memory");
}

__device__ inline void copies_done() {
  asm volatile("cp.async.wait_all;" ::: "memory");
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

using emulator::copies_done;
using emulator::copy_16_bytes;
using emulator::load_matrices;
using emulator::load_matrices_transposed;
using emulator::multiply_add;
using emulator::pack;

#endif

} // namespace at::native::cuda
