// The arithmetic of the product: what a block multiplies its tiles with.
#pragma once

#include <aten/native/cuda/implicit_gemm_tile.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/tensor_core.cuh>

#include <cstdint>

namespace at::native::cuda::implicit_gemm {

/// Products of half, bfloat16, or float in TF32, by tensor cores (Note [Fragments]).
template <class T, int kTile>
struct TensorCoreMath {
  using Element = T;
  using Sum = float;
  using MathTile = Tile<T, kTile>;
  static constexpr int kSize = kTile, kThreads = 2 * kTile;
  // Blocks that a multiprocessor is to have room for. 16 bits take registers on their way to shared memory.
  static constexpr int kWideBlocks = kTile == 128 ? 2 : 4,
                       kBlocks = sizeof(T) == 4 ? kWideBlocks
      : kTile == 128                            ? 1
                                                : 3;
  static constexpr bool kDepthOrRows = true; // tiles may lie either way

  // Two rows of warps; each has half of the rows and 32 columns.
  static constexpr int kWarpRows = kTile / 2, kWarpColumns = 32, kDown = kWarpRows / 16, kAcross = kWarpColumns / 8;
  float sums[kDown][kAcross][4] = {};

  static __device__ int lane() {
    return static_cast<int>(threadIdx.x) % 32;
  }
  static __device__ int first_row() {
    return static_cast<int>(threadIdx.x) / 32 % 2 * kWarpRows;
  }
  static __device__ int first_column() {
    return static_cast<int>(threadIdx.x) / 64 * kWarpColumns;
  }

  __device__ void multiply(const MathTile& tile_a, const MathTile& tile_b, bool a_by_depth, bool b_by_depth) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      std::uint32_t b[kAcross / 2][4];
#pragma unroll
      for (int n = 0; n < kAcross / 2; ++n) {
        load_b(b[n], tile_b, b_by_depth, n, k);
      }
#pragma unroll
      for (int m = 0; m < kDown; ++m) {
        std::uint32_t a[4];
        load_a(a, tile_a, a_by_depth, m, k);
#pragma unroll
        for (int n = 0; n < kAcross; ++n) {
          const std::uint32_t(&words)[4] = b[n / 2];
          if constexpr (sizeof(T) == 4) {
            multiply_add_tf32(sums[m][n], a, words[n % 2 * 2], words[n % 2 * 2 + 1]);
          } else {
            multiply_add<T>(sums[m][n], a, words[n % 2 * 2], words[n % 2 * 2 + 1]);
          }
        }
      }
    }
  }

  template <class F>
  __device__ void each(F f) const {
#pragma unroll
    for (int m = 0; m < kDown; ++m) {
#pragma unroll
      for (int n = 0; n < kAcross; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          f(first_row() + 16 * m + lane() / 4 + i / 2 * 8, first_column() + 8 * n + lane() % 4 * 2 + i % 2,
            sums[m][n][i]);
        }
      }
    }
  }

 private:
  static __device__ void round(std::uint32_t (&words)[4]) {
    if constexpr (sizeof(T) == 4) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        words[i] = to_tf32(words[i]);
      }
    }
  }

  /// 16 rows and 32 bytes of depth: number m, and k.
  static __device__ void load_a(std::uint32_t (&a)[4], const MathTile& tile, bool by_depth, int m, int k) {
    if (by_depth) {
      load_matrices(a, tile.at(MathTile::along_depth(first_row() + 16 * m + lane() % 16, 2 * k + lane() / 16)));
    } else if constexpr (sizeof(T) == 2) {
      const int first = MathTile::along_rows(lane() / 16 * 8 + lane() % 8, first_row() / 8 + lane() / 8 % 2);
      load_matrices_transposed(a, tile.at(first ^ MathTile::along_rows(16 * k, 2 * m)));
    } else {
      const int first = MathTile::element(false, first_row() + lane() / 4, lane() % 4);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        a[i] = *reinterpret_cast<const std::uint32_t*>(
            tile.at(first ^ MathTile::element(false, 16 * m + i % 2 * 8, 8 * k + i / 2 * 4)));
      }
    }
    round(a);
  }
  /// 16 columns, number n: {b0, b1} of eight and of the next eight.
  static __device__ void load_b(std::uint32_t (&b)[4], const MathTile& tile, bool by_depth, int n, int k) {
    if (by_depth) {
      load_matrices(
          b,
          tile.at(
              MathTile::along_depth(first_column() + 16 * n + lane() / 16 * 8 + lane() % 8, 2 * k + lane() / 8 % 2)));
    } else if constexpr (sizeof(T) == 2) {
      const int first = MathTile::along_rows(lane() / 8 % 2 * 8 + lane() % 8, first_column() / 8 + lane() / 16);
      load_matrices_transposed(b, tile.at(first ^ MathTile::along_rows(16 * k, 2 * n)));
    } else {
      const int first = MathTile::element(false, first_column() + lane() / 4, lane() % 4);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        b[i] = *reinterpret_cast<const std::uint32_t*>(
            tile.at(first ^ MathTile::element(false, 16 * n + i / 2 * 8, 8 * k + i % 2 * 4)));
      }
    }
    round(b);
  }
};

/// Ordinary multiplications.
template <class T, int kTile>
struct PlainMath {
  using Element = T;
  using Sum = T;
  using MathTile = Tile<T, kTile>;
  static constexpr int kSize = kTile, kThreads = 2 * kTile, kBlocks = 2, kWideBlocks = 2;
  static constexpr bool kDepthOrRows = false; // tiles are row-major

  // 16 threads across. A thread has pieces of rows and columns, so that it reads 16 bytes at a time.
  static constexpr int kPiece = MathTile::kPiece, kDown = 8, kAcross = kTile / 16;
  T sums[kDown][kAcross] = {};

  static __device__ int across() {
    return static_cast<int>(threadIdx.x) % 16;
  }
  static __device__ int down() {
    return static_cast<int>(threadIdx.x) / 16;
  }

  __device__ void multiply(const MathTile& tile_a, const MathTile& tile_b, bool, bool) {
#pragma unroll
    for (int k = 0; k < MathTile::kDepth; ++k) {
      T a[kDown], b[kAcross];
      read(a, tile_a, k, down(), kTile / 8);
      read(b, tile_b, k, across(), 16);
#pragma unroll
      for (int i = 0; i < kDown; ++i) {
#pragma unroll
        for (int j = 0; j < kAcross; ++j) {
          sums[i][j] += a[i] * b[j];
        }
      }
    }
  }

  template <class F>
  __device__ void each(F f) const {
#pragma unroll
    for (int i = 0; i < kDown; ++i) {
#pragma unroll
      for (int j = 0; j < kAcross; ++j) {
        f((i / kPiece * (kTile / 8) + down()) * kPiece + i % kPiece, (j / kPiece * 16 + across()) * kPiece + j % kPiece,
          sums[i][j]);
      }
    }
  }

 private:
  template <int N>
  static __device__ void read(T (&values)[N], const MathTile& tile, int k, int number, int threads) {
#pragma unroll
    for (int i = 0; i < N / kPiece; ++i) {
      const auto piece = *reinterpret_cast<const Aligned<T, kPiece>*>(
          tile.at(MathTile::along_rows(0, number) ^ MathTile::along_rows(k, i * threads)));
#pragma unroll
      for (int e = 0; e < kPiece; ++e) {
        values[i * kPiece + e] = piece.values[e];
      }
    }
  }
};

} // namespace at::native::cuda::implicit_gemm
