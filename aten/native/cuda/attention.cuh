// What forward and backward of attention share: tiles in shared memory, scores, dropout.
#pragma once

#include <aten/core/PhiloxRNGEngine.h>
#include <aten/native/cuda/attention.h>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/team.cuh>
#include <aten/native/cuda/tensor_core.cuh>

#include <cmath>

namespace at::native::cuda::attention {

inline constexpr int kThreads = 128; // four warps, each of which has 16 rows
inline constexpr int kRows = 64;
inline constexpr float kLog2E = 1.44269504088896340736f;

/// Rows of D elements of 16 bits. Pieces of 16 bytes are exchanged within a row by its number, so that the same columns of
/// eight rows lie in different banks.
template <int D>
struct Tile {
  std::uint16_t* memory;

  __device__ std::uint16_t* piece(int row, int number) const {
    return memory + row * D + ((number ^ (row & 7)) * 8);
  }
  /// Rows from `first` on; zeros beyond `rows` and `width`. Arrives with copies_done().
  template <int Rows>
  __device__ void load(const std::uint16_t* from, std::int64_t stride, int first, int rows, int width) const {
    constexpr int kPieces = D / 8;
#pragma unroll
    for (int i = threadIdx.x; i < Rows * kPieces; i += kThreads) {
      const int row = i / kPieces, number = i % kPieces;
      const bool there = first + row < rows && number * 8 < width;
      copy_16_bytes(piece(row, number), there ? from + static_cast<std::int64_t>(first + row) * stride + number * 8 : from, there);
    }
  }

  /// Rows `row` to `row` + 15 and columns 16 k to 16 k + 15 as an a.
  __device__ void as_a(std::uint32_t (&a)[4], int row, int k) const {
    const int lane = threadIdx.x % 32;
    load_matrices(a, piece(row + lane % 16, 2 * k + lane / 16));
  }
  /// Two b of the transposed tile, for 16 of its rows: {b0, b1} for eight and for the next eight.
  __device__ void as_b_transposed(std::uint32_t (&b)[4], int row, int k) const {
    const int lane = threadIdx.x % 32;
    load_matrices(b, piece(row + lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2));
  }
  /// Two b of rows `row` to `row` + 15: {b0, b1} for columns 16 n to 16 n + 7, and for the next eight.
  __device__ void as_b(std::uint32_t (&b)[4], int row, int n) const {
    const int lane = threadIdx.x % 32;
    load_matrices_transposed(b, piece(row + lane % 16, 2 * n + lane / 16));
  }
};

/// c += a-tile (16 rows of this warp) times the transposed tile of `Columns` rows.
template <class T, int D, int Columns, class ReadA>
__device__ inline void multiply_transposed(float (&c)[Columns / 8][4], ReadA read_a, const Tile<D>& b) {
#pragma unroll
  for (int k = 0; k < D / 16; ++k) {
    std::uint32_t a[4];
    read_a(a, k);
#pragma unroll
    for (int n = 0; n < Columns / 16; ++n) {
      std::uint32_t words[4];
      b.as_b_transposed(words, 16 * n, k);
      multiply_add<T>(c[2 * n], a, words[0], words[1]);
      multiply_add<T>(c[2 * n + 1], a, words[2], words[3]);
    }
  }
}

/// c (16 x D) += weights (16 x Columns, rounded to 16 bits) times the tile of `Columns` rows.
template <class T, int D, int Columns>
__device__ inline void multiply_weights(float (&c)[D / 8][4], const float (&weights)[Columns / 8][4], const Tile<D>& b) {
#pragma unroll
  for (int k = 0; k < Columns / 16; ++k) {
    const float(&left)[4] = weights[2 * k];
    const float(&right)[4] = weights[2 * k + 1];
    const std::uint32_t a[4] = {
        pack<T>(left[0], left[1]), pack<T>(left[2], left[3]), pack<T>(right[0], right[1]), pack<T>(right[2], right[3])};
#pragma unroll
    for (int n = 0; n < D / 16; ++n) {
      std::uint32_t words[4];
      b.as_b(words, 16 * k, n);
      multiply_add<T>(c[2 * n], a, words[0], words[1]);
      multiply_add<T>(c[2 * n + 1], a, words[2], words[3]);
    }
  }
}

template <int N>
__device__ inline void clear(float (&c)[N][4]) {
#pragma unroll
  for (int n = 0; n < N; ++n) {
    c[n][0] = c[n][1] = c[n][2] = c[n][3] = 0;
  }
}

/// Writes 16 rows of this warp, from `first` on, in 16 bits.
template <class T, int N>
__device__ inline void store(
    const float (&c)[N][4], const AttentionOperand& to, std::int64_t offset, int first, int rows, int width) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = first + lane / 4 + 8 * half;
    if (row >= rows) {
      continue;
    }
    auto* const target = static_cast<std::uint16_t*>(to.data) + offset + row * to.row_stride;
#pragma unroll
    for (int n = 0; n < N; ++n) {
      const int column = 8 * n + 2 * (lane % 4);
      if (column < width) {
        const std::uint32_t word = pack<T>(c[n][2 * half], c[n][2 * half + 1]);
        memcpy(target + column, &word, sizeof(word));
      }
    }
  }
}

__device__ inline const std::uint16_t* head_of(const AttentionOperand& t, int batch, int head) {
  return static_cast<const std::uint16_t*>(t.data) + batch * t.batch_stride + head * t.head_stride;
}

/// Which weights are dropped: the same in forward and backward. Four neighbours of a row share a draw.
struct Dropout {
  std::uint64_t seed, offset;
  std::uint32_t threshold; // numbers below it drop
  float factor; // of what stays
  int columns; // groups of four in a row

  __device__ Dropout(float p, std::uint64_t seed, std::uint64_t offset, int key_length)
      : seed(seed), offset(offset / 4), threshold(static_cast<std::uint32_t>(p * 4294967296.f)), factor(1 / (1 - p)),
        columns((key_length + 3) / 4) {}

  /// 0 or the factor. `row`: of all heads and batches.
  __device__ float operator()(std::int64_t row, int column) const {
    const auto group = static_cast<std::uint64_t>(row * columns + column / 4);
    const std::uint32_t count[4] = {
        static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(offset >> 32), static_cast<std::uint32_t>(group),
        static_cast<std::uint32_t>(group >> 32)};
    std::uint32_t words[4];
    at::detail::philox_block(seed, count, words);
    const int which = column % 4;
    const std::uint32_t number = which < 2 ? (which == 0 ? words[0] : words[1]) : (which == 2 ? words[2] : words[3]);
    return number < threshold ? 0.f : factor;
  }
};

/// Scaled products with what the mask does to them, times log2(e).
template <class T>
__device__ inline float score(
    const AttentionProblem& p, float product, int batch, int head, int row, int column) {
  if (row >= p.query_length || column >= p.key_length || (p.causal && column > row)) {
    return -INFINITY;
  }
  float s = product * p.scale;
  if (p.mask.kind != AttentionMask::Kind::kNone) {
    const std::int64_t i = batch * p.mask.strides[0] + head * p.mask.strides[1] + row * p.mask.strides[2] + column * p.mask.strides[3];
    switch (p.mask.kind) {
      case AttentionMask::Kind::kBool:
        s = static_cast<const bool*>(p.mask.data)[i] ? s : -INFINITY;
        break;
      case AttentionMask::Kind::kSame:
        s += widen(static_cast<const T*>(p.mask.data)[i]);
        break;
      default:
        s += static_cast<const float*>(p.mask.data)[i];
        break;
    }
  }
  return s * kLog2E;
}

/// Over the four lanes that have a row together.
template <class Combine>
__device__ inline float over_row(float value, Combine combine) {
  value = combine(value, exchange(value, 1));
  return combine(value, exchange(value, 2));
}

struct Max {
  __device__ float operator()(float a, float b) const {
    return a > b ? a : b;
  }
};

} // namespace at::native::cuda::attention
