// Matrices of bytes in the order that 8-bit dot product instructions (VNNI) read: 4 numbers of a column, or of a row,
// side by side. All matrices are row-major, ld_src elements from one to the next.
#pragma once

#include <c10/util/Exception.h>
#include <csrc/compat/aten/cpu/vec/isa.h>

#include <cstdint>
#include <type_traits>

namespace at::vec {
inline namespace CPU_CAPABILITY {
inline namespace AT_VEC_ISA {

/// A 4 x 64 block as 64 x 4 side by side, of which `krem` rows and `nrem` columns are there; rows beyond are zeros.
template <class T, class = std::enable_if_t<sizeof(T) == 1>>
void transpose_pad_4x64_block(const T* src, T* dst, int64_t ld_src, int krem = 4, int nrem = 64) {
  for (int n = 0; n < nrem; ++n) {
    for (int k = 0; k < 4; ++k) {
      dst[n * 4 + k] = k < krem ? src[k * ld_src + n] : T(0);
    }
  }
}

/// K x N as [ceil(K / 4)][N][4]: 4 numbers of a column side by side. Rows beyond K are zeros.
template <class T, class = std::enable_if_t<sizeof(T) == 1>>
void pack_vnni4(const T* src, T* dst, int64_t ld_src, int64_t K, int64_t N) {
  for (int64_t k = 0; k < K; k += 4) {
    const int rows = K - k < 4 ? static_cast<int>(K - k) : 4;
    for (int64_t n = 0; n < N; n += 64) {
      transpose_pad_4x64_block(
          src + k * ld_src + n, dst + k * N + n * 4, ld_src, rows, N - n < 64 ? static_cast<int>(N - n) : 64);
    }
  }
}

/// A 4 x 16 block as 4 x (4 x 4): what lies in dst row i are columns 4 i .. 4 i + 3 of the `krem` rows, one after the
/// other.
template <class T, class = std::enable_if_t<sizeof(T) == 1>>
void transpose_vnni4_pad_4x16_block(const T* src, T* dst, int64_t ld_src, int64_t ld_dst, int krem = 4) {
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < krem; ++k) {
      for (int n = 0; n < 4; ++n) {
        dst[i * ld_dst + k * 4 + n] = src[k * ld_src + i * 4 + n];
      }
    }
  }
}

/// K x N, N a multiple of 16, as [N / 4][K][4]: the transposed matrix with 4 numbers of its columns side by side.
template <class T, class = std::enable_if_t<sizeof(T) == 1>>
void transpose_pack_vnni4(const T* src, T* dst, int64_t ld_src, int64_t K, int64_t N) {
  TORCH_CHECK(N % 16 == 0, "transpose_pack_vnni4: N must be a multiple of 16, got ", N);
  for (int64_t k = 0; k < K; k += 4) {
    const int rows = K - k < 4 ? static_cast<int>(K - k) : 4;
    for (int64_t n = 0; n < N; n += 16) {
      transpose_vnni4_pad_4x16_block(src + k * ld_src + n, dst + n * K + k * 4, ld_src, K * 4, rows);
    }
  }
}

} // namespace AT_VEC_ISA
} // namespace CPU_CAPABILITY
} // namespace at::vec
