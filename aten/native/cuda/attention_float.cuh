// What forward and backward of attention in float share: tiles in shared memory, and products of them by the threads of
// a block.
//
// The 128 threads of a block are 8 rows of 16. Thread (x, y) has the rows y * RT, ..., y * RT + RT - 1 of a result and
// its columns x, x + 16, ...: what it reads of rows is the same for 16 lanes, and what they read of columns lies in
// different banks.
#pragma once

#include <aten/native/cuda/attention.cuh>

namespace at::native::cuda::attention {

inline constexpr int kThreads = 128;

/// Floats between the beginnings of two rows of `size`.
constexpr int padded(int size) {
  return size + 4;
}

/// Of the running thread.
struct Place {
  int x = static_cast<int>(threadIdx.x) % 16, y = static_cast<int>(threadIdx.x) / 16;
};

/// Rows from `first` on, of D floats each; zeros beyond `rows` and `width`.
template <int Rows, int D>
__device__ inline void load_tile(float* to, const float* from, std::int64_t stride, int first, int rows, int width) {
#pragma unroll 4
  for (int i = threadIdx.x; i < Rows * D; i += kThreads) {
    const int row = i / D, column = i % D;
    const bool there = first + row < rows && column < width;
    to[row * padded(D) + column] = there ? from[static_cast<std::int64_t>(first + row) * stride + column] : 0.f;
  }
}

/// A scaled product with what mask and slopes do to it, times log2(e): minus infinity where the query does not see the
/// key.
__device__ inline float score(
    const AttentionProblem& p, const Sequences& s, float product, int batch, int head, int row, int column) {
  if (row >= s.query_length || column < s.first_key(row) || column >= s.end_key(row)) {
    return -INFINITY;
  }
  float x = product * p.scale;
  if (p.mask.kind != AttentionMask::Kind::kNone) {
    const std::int64_t* const strides = p.mask.strides;
    const std::int64_t i = batch * strides[0] + head * strides[1] + row * strides[2] + column * strides[3];
    if (p.mask.kind == AttentionMask::Kind::kBool) {
      x = static_cast<const bool*>(p.mask.data)[i] ? x : -INFINITY;
    } else {
      x += static_cast<const float*>(p.mask.data)[i];
    }
  }
  if (p.slopes != nullptr) {
    x += slope_of(p, batch, head) * slope_distance(p, s, row, column);
  }
  return x * kLog2E;
}

__device__ inline const Aligned<float, 4>& four(const float* memory) {
  return *reinterpret_cast<const Aligned<float, 4>*>(memory);
}

/// c = the tile `rows` times the transposed tile `columns`.
template <int D, int RT, int CT>
__device__ inline void multiply_tiles(float (&c)[RT][CT], const float* rows, const float* columns, Place place) {
#pragma unroll
  for (int r = 0; r < RT; ++r) {
#pragma unroll
    for (int j = 0; j < CT; ++j) {
      c[r][j] = 0;
    }
  }
#pragma unroll 4
  for (int d = 0; d < D; d += 4) {
    Aligned<float, 4> b[CT];
#pragma unroll
    for (int j = 0; j < CT; ++j) {
      b[j] = four(columns + (place.x + 16 * j) * padded(D) + d);
    }
#pragma unroll
    for (int r = 0; r < RT; ++r) {
      const Aligned<float, 4> a = four(rows + (place.y * RT + r) * padded(D) + d);
#pragma unroll
      for (int j = 0; j < CT; ++j) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          c[r][j] += a.values[i] * b[j].values[i];
        }
      }
    }
  }
}

/// c += the matrix `weights` of `Columns` columns times the tile `columns`, which has so many rows.
template <int D, int Columns, int RT>
__device__ inline void add_weighted(float (&c)[RT][D / 16], const float* weights, const float* columns, Place place) {
#pragma unroll 2
  for (int k = 0; k < Columns; k += 4) {
    Aligned<float, 4> a[RT];
#pragma unroll
    for (int r = 0; r < RT; ++r) {
      a[r] = four(weights + (place.y * RT + r) * padded(Columns) + k);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < D / 16; ++j) {
        const float b = columns[(k + i) * padded(D) + place.x + 16 * j];
#pragma unroll
        for (int r = 0; r < RT; ++r) {
          c[r][j] += a[r].values[i] * b;
        }
      }
    }
  }
}

/// Writes the rows of this thread: `to` is the first of a sequence of `rows` rows, `first` the first of the block.
template <int RT, int DT>
__device__ inline void store_tile(
    const float (&c)[RT][DT], float* to, std::int64_t stride, int first, int rows, int width, Place place) {
#pragma unroll
  for (int r = 0; r < RT; ++r) {
    const int row = first + place.y * RT + r;
#pragma unroll
    for (int j = 0; j < DT; ++j) {
      const int column = place.x + 16 * j;
      if (row < rows && column < width) {
        to[row * stride + column] = c[r][j];
      }
    }
  }
}

/// Over the 16 lanes that have a row together.
template <class Combine>
__device__ inline float over_lanes(float value, Combine combine) {
#pragma unroll
  for (int mask = 8; mask > 0; mask /= 2) {
    value = combine(value, exchange(value, mask));
  }
  return value;
}

} // namespace at::native::cuda::attention
