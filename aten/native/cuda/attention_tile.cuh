// What attention on tensor cores has of tiles: 16-bit numbers in shared memory, products of them, and weights that a
// warp has in registers.
#pragma once

#include <aten/native/cuda/attention.cuh>
#include <aten/native/cuda/tensor_core.cuh>

namespace at::native::cuda::attention {

/// What a kernel is compiled for: the less a kernel must look at, the faster. kGeneral takes everything.
enum class Weights { kPlain, kDropped, kGeneral };

inline Weights weights_of(const AttentionProblem& p) {
  const bool plain = p.mask.kind == AttentionMask::Kind::kNone && p.slopes == nullptr && p.scale > 0;
  return !plain ? Weights::kGeneral : p.dropout > 0 ? Weights::kDropped : Weights::kPlain;
}

/// Rows of Width elements of 16 bits. Pieces of 16 bytes are exchanged within a row by the row's number, so that the
/// same columns of eight rows lie in different banks.
template <int Width>
struct Tile {
  static constexpr int kRowBytes = 2 * Width, kPieces = Width / 8;

  unsigned char* memory;

  static __device__ int place(int row, int piece) {
    return row * kRowBytes + ((piece ^ (row & 7)) << 4);
  }

  /// Rows from `from` on; zeros beyond `rows` and `width`. Arrives like all copies of this thread.
  template <int Rows, int Threads>
  __device__ void load(const std::uint16_t* from, std::int64_t stride, int rows, int width) const {
    static_assert(Threads % kPieces == 0 && Rows * kPieces % Threads == 0);
    constexpr int kStep = Threads / kPieces;
    const int first = static_cast<int>(threadIdx.x) / kPieces, piece = static_cast<int>(threadIdx.x) % kPieces;
    const std::uint16_t* const source = from + first * stride + piece * 8;
    const int there = piece * 8 < width ? rows - first : 0;
    const SharedAddress base = shared_address(memory);
#pragma unroll
    for (int i = 0; i < Rows / kStep; ++i) {
      copy_16_bytes(base + place(first + i * kStep, piece), source + i * kStep * stride, i * kStep < there);
    }
  }

  /// Writes what lies here, after a barrier.
  template <int Rows, int Threads>
  __device__ void store(std::uint16_t* to, std::int64_t stride, int rows, int width) const {
    constexpr int kStep = Threads / kPieces;
    const int first = static_cast<int>(threadIdx.x) / kPieces, piece = static_cast<int>(threadIdx.x) % kPieces;
    const int there = piece * 8 < width ? rows - first : 0;
#pragma unroll
    for (int i = 0; i < Rows / kStep; ++i) {
      if (i * kStep < there) {
        using Piece = Aligned<std::uint32_t, 4>;
        *reinterpret_cast<Piece*>(to + (first + i * kStep) * stride + piece * 8) =
            *reinterpret_cast<const Piece*>(memory + place(first + i * kStep, piece));
      }
    }
  }

  /// Writes a c of the warp, of R row blocks and N blocks of 8 columns, rounded to 16 bits; `row` and `column` are its
  /// first.
  template <class T, int R, int N>
  __device__ void put(const float (&c)[R][N][4], int row, int column) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int m = 0; m < R; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int own = row + 16 * m + 8 * half + lane / 4;
#pragma unroll
        for (int n = 0; n < N; ++n) {
          *reinterpret_cast<std::uint32_t*>(memory + place(own, column / 8 + n) + lane % 4 * 4) =
              pack<T>(c[m][n][2 * half], c[m][n][2 * half + 1]);
        }
      }
    }
  }
};

/// Where a lane reads matrices of a tile, from a row (a multiple of 16) and a block of 16 columns on. `at` goes on from
/// there: by blocks whose number has no bits in common with the first one's. What lanes differ by is the same for all
/// tiles of a width.
template <int Width>
struct Matrices {
  SharedAddress base; // of the warp
  int place; // of the lane

  __device__ Matrices(const Tile<Width>& tile, int row, int block, int lane_row, int lane_piece)
      : base(shared_address(tile.memory) + row * Tile<Width>::kRowBytes + ((2 * block & ~7) << 4)),
        place(Tile<Width>::place(lane_row, lane_piece) ^ ((2 * block & 6) << 4)) {
    // As if it came from elsewhere: sums with it are then made where they are used. Kept for all of a loop, they would
    // take more registers than there are.
    asm volatile("" : "+r"(base));
  }
  __device__ SharedAddress at(int row, int block) const {
    return base + (place ^ ((2 * block & 6) << 4)) + ((2 * block & ~7) << 4) + row * Tile<Width>::kRowBytes;
  }
};

/// Lanes 0 to 15 name the rows, the others the same rows eight columns further: an a, or two b of the tile as it lies.
template <int Width>
__device__ inline Matrices<Width> matrices_by_rows(const Tile<Width>& tile, int row, int block) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  return {tile, row, block, lane % 16, lane / 16};
}
/// Lanes 0 to 7 name eight rows, the next eight the same rows eight columns further: two b of the transposed tile, or
/// an a of it.
template <int Width>
__device__ inline Matrices<Width> matrices_by_columns(const Tile<Width>& tile, int row, int block) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  return {tile, row, block, lane / 16 * 8 + lane % 8, lane / 8 % 2};
}

/// An operand of a product in shared memory, seen from the warp's part of it: block (i, k) has 16 rows (or columns of
/// the right operand) i, and 16 terms k of the sums.
template <int Width>
struct RowsOf { // the tile's rows are those of the left operand, or the columns of the right one
  Matrices<Width> matrices;
  __device__ void operator()(std::uint32_t (&words)[4], int i, int k) const {
    load_matrices(words, matrices.at(16 * i, k));
  }
};
template <int Width>
struct ColumnsOf { // the tile's columns are
  Matrices<Width> matrices;
  __device__ void operator()(std::uint32_t (&words)[4], int i, int k) const {
    load_matrices_transposed(words, matrices.at(16 * k, i));
  }
};
template <int Width>
__device__ inline RowsOf<Width> left_rows(const Tile<Width>& tile, int row) {
  return {matrices_by_rows(tile, row, 0)};
}
template <int Width>
__device__ inline RowsOf<Width> right_rows(const Tile<Width>& tile, int row) {
  return {matrices_by_columns(tile, row, 0)};
}
template <int Width>
__device__ inline ColumnsOf<Width> left_columns(const Tile<Width>& tile, int column) {
  return {matrices_by_columns(tile, 0, column / 16)};
}
template <int Width>
__device__ inline ColumnsOf<Width> right_columns(const Tile<Width>& tile, int column) {
  return {matrices_by_rows(tile, 0, column / 16)};
}

/// c += left times right, over 16 * Terms terms.
template <class T, int Terms, int R, int N, class Left, class Right>
__device__ inline void multiply(float (&c)[R][N][4], const Left& left, const Right& right) {
#pragma unroll
  for (int k = 0; k < Terms; ++k) {
    std::uint32_t a[R][4];
#pragma unroll
    for (int m = 0; m < R; ++m) {
      left(a[m], m, k);
    }
#pragma unroll
    for (int n = 0; n < N / 2; ++n) {
      std::uint32_t b[4];
      right(b, n, k);
#pragma unroll
      for (int m = 0; m < R; ++m) {
        multiply_add<T>(c[m][2 * n], a[m], b[0], b[1]);
        multiply_add<T>(c[m][2 * n + 1], a[m], b[2], b[3]);
      }
    }
  }
}

/// A c as the left operand, rounded to 16 bits.
template <class T, int R, int N>
struct Rounded {
  const float (&c)[R][N][4];
  __device__ void operator()(std::uint32_t (&words)[4], int i, int k) const {
    const float(&left)[4] = c[i][2 * k];
    const float(&right)[4] = c[i][2 * k + 1];
    words[0] = pack<T>(left[0], left[1]);
    words[1] = pack<T>(left[2], left[3]);
    words[2] = pack<T>(right[0], right[1]);
    words[3] = pack<T>(right[2], right[3]);
  }
};

template <int R, int N>
__device__ inline void clear(float (&c)[R][N][4]) {
#pragma unroll
  for (int m = 0; m < R; ++m) {
#pragma unroll
    for (int n = 0; n < N; ++n) {
      c[m][n][0] = c[m][n][1] = c[m][n][2] = c[m][n][3] = 0;
    }
  }
}

template <int R, int N>
__device__ inline void scale(float (&c)[R][N][4], float factor) {
#pragma unroll
  for (int m = 0; m < R; ++m) {
#pragma unroll
    for (int n = 0; n < N; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        c[m][n][i] *= factor;
      }
    }
  }
}

/// What a warp has of the scores: R row blocks from query `row` on, N blocks of 8 keys from `column` on. `use` gets
/// each with its query and key.
template <int R, int N, class Use>
__device__ inline void for_each_score(float (&scores)[R][N][4], int row, int column, const Use& use) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int m = 0; m < R; ++m) {
#pragma unroll
    for (int n = 0; n < N; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        use(scores[m][n][i], row + 16 * m + 8 * (i / 2) + lane / 4, column + 8 * n + 2 * (lane % 4) + i % 2);
      }
    }
  }
}

/// What a mask does to scores, times log2(e): `M` are its elements. Of positions beyond the last query and key it takes
/// the last ones.
template <class M, int R, int N>
__device__ inline void mask_scores(
    const AttentionProblem& p, const Sequences& s, float (&scores)[R][N][4], int batch, int head, int row, int column) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const M* const mask = static_cast<const M*>(p.mask.data) + batch * p.mask.strides[0] + head * p.mask.strides[1];
  const M* rows[2 * R];
#pragma unroll
  for (int m = 0; m < 2 * R; ++m) {
    const int own = row + 8 * m + lane / 4;
    rows[m] = mask + (own < s.query_length ? own : s.query_length - 1) * p.mask.strides[2];
  }
  const float factor = p.scale * kLog2E;
#pragma unroll
  for (int n = 0; n < N; ++n) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int own = column + 8 * n + 2 * (lane % 4) + i;
      const std::int64_t place = (own < s.key_length ? own : s.key_length - 1) * p.mask.strides[3];
#pragma unroll
      for (int m = 0; m < 2 * R; ++m) {
        float& x = scores[m / 2][n][2 * (m % 2) + i];
        if constexpr (std::is_same_v<M, bool>) {
          x = rows[m][place] ? x * factor : -INFINITY;
        } else {
          x = x * factor + widen(rows[m][place]) * kLog2E;
        }
      }
    }
  }
}

/// Applies mask and slopes where the kernel is compiled for them, and minus infinity where a query does not see a key.
/// What then remains to be done to the scores is a factor, which score_factor() says.
template <Weights W, class T, int R, int N>
__device__ inline void finish_scores(
    const AttentionProblem& p, const Sequences& s, float (&scores)[R][N][4], int batch, int head, int row, int column) {
  if constexpr (W == Weights::kGeneral) {
    switch (p.mask.kind) {
      case AttentionMask::Kind::kNone:
        scale(scores, p.scale * kLog2E);
        break;
      case AttentionMask::Kind::kBool:
        mask_scores<bool>(p, s, scores, batch, head, row, column);
        break;
      case AttentionMask::Kind::kSame:
        mask_scores<T>(p, s, scores, batch, head, row, column);
        break;
      case AttentionMask::Kind::kFloat:
        mask_scores<float>(p, s, scores, batch, head, row, column);
        break;
    }
    if (p.slopes != nullptr) {
      const float slope = slope_of(p, batch, head) * kLog2E;
      for_each_score(
          scores, row, column, [&](float& x, int query, int key) { x += slope * slope_distance(p, s, query, key); });
    }
  }
  // Tiles within what all queries see need no looking at.
  const int last_row = row + 16 * R - 1;
  if (column < s.first_key(last_row) || column + 8 * N > s.end_key(row)) {
    for_each_score(scores, row, column, [&](float& x, int query, int key) {
      if (key < s.first_key(query) || key >= s.end_key(query)) {
        x = -INFINITY;
      }
    });
  }
}

template <Weights W>
__device__ inline float score_factor(const AttentionProblem& p) {
  return W == Weights::kGeneral ? 1.f : p.scale * kLog2E;
}

template <Weights W>
__device__ inline bool drops(const AttentionProblem& p) {
  return W == Weights::kDropped || (W == Weights::kGeneral && p.dropout > 0);
}

/// Gives each of the scores and whether it is kept to `use`.
template <int R, int N, class Use>
__device__ inline void for_each_kept(
    const Dropout& dropout, float (&scores)[R][N][4], int pair, int row, int column, const Use& use) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int m = 0; m < R; ++m) {
#pragma unroll
    for (int n = 0; n < N / 2; ++n) {
      std::uint32_t words[4];
      dropout.draw(words, pair, row / 16 + m, column / 16 + n, lane);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int u = i / 4, half = i % 4 / 2;
        use(scores[m][2 * n + u][i % 4], dropout.keeps(words[2 * half + u], i % 2));
      }
    }
  }
}

/// Over the four lanes that have a row together.
template <class Combine>
__device__ inline float over_row(float value, Combine combine) {
  value = combine(value, exchange(value, 1));
  return combine(value, exchange(value, 2));
}

} // namespace at::native::cuda::attention
