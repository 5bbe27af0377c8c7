#pragma once
// The innermost part of every matrix product: a register tile of C, MR rows by NV vectors.
//
// A tile reads A with any strides (packed or in place) and B row by row from memory that is contiguous within a
// row. Complex products run on split planes: all real parts of a row, then all imaginary parts, so that the same
// multiply-adds serve them without shuffles.

#include <cstdint>
#include <cstring>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace gemm_detail {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
inline constexpr int kRegisters = 32;
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
inline constexpr int kRegisters = 16;
#else
inline constexpr int kVectorBytes = 16;
inline constexpr int kRegisters = 16;
#endif

template <class R>
struct VectorOf {
  typedef R type __attribute__((vector_size(kVectorBytes)));
};
template <class R>
using Vector = typename VectorOf<R>::type;
template <class R>
inline constexpr int kLanes = kVectorBytes / int(sizeof(R));

template <class R>
inline __attribute__((always_inline)) Vector<R> load(const R* p) {
  Vector<R> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class R>
inline __attribute__((always_inline)) void store(R* p, Vector<R> v) {
  std::memcpy(p, &v, sizeof v);
}

/// Register tile of a product: kRows rows by up to kVectors vectors, chosen to fill the register file.
/// `Planes` is 1 for real and 2 for complex numbers.
template <int Planes>
struct TileShape;
template <>
struct TileShape<1> {
  static constexpr int kRows = kRegisters == 32 ? 8 : 4;
  static constexpr int kVectors = 3;
};
template <>
struct TileShape<2> {
  static constexpr int kRows = kRegisters == 32 ? 4 : 2;
  static constexpr int kVectors = 2;
};

/// Operands of a tile. Strides are in elements of R; `*_plane` leads from a real part to its imaginary part.
template <class R>
struct TileOperands {
  const R* a;
  int64_t a_row, a_col, a_plane;
  const R* b;
  int64_t b_row, b_plane;
};

/// Steps of B that are asked for ahead: it comes from the second cache (measured).
inline constexpr int64_t kStepsAhead = 10;

/// acc[plane][row][NV vectors] = A (MR x k) * B (k x NV vectors), with rows `acc_row` apart; of real numbers also +=,
/// with `add`.
template <class R, int Planes, int MR, int NV>
inline __attribute__((always_inline)) void tile_product(
    int64_t k, const TileOperands<R>& op, R* acc, int64_t acc_row, bool add) {
  using V = Vector<R>;
  constexpr int L = kLanes<R>;
  V re[MR][NV] = {};
  V im[Planes == 2 ? MR : 1][NV] = {};
  const R* a = op.a;
  const R* b = op.b;
  for (int64_t p = 0; p < k; ++p, a += op.a_col, b += op.b_row) {
    V br[NV], bi[NV];
#pragma GCC unroll 4
    for (int j = 0; j < NV; ++j) {
      br[j] = load(b + j * L);
      if constexpr (kRegisters == 32 && Planes == 1) {
        __builtin_prefetch(b + j * L + kStepsAhead * op.b_row);
      }
      if constexpr (Planes == 2) {
        bi[j] = load(b + op.b_plane + j * L);
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i) {
      const R ar = a[i * op.a_row];
#pragma GCC unroll 4
      for (int j = 0; j < NV; ++j) {
        re[i][j] += ar * br[j];
      }
      if constexpr (Planes == 2) {
        const R ai = a[i * op.a_row + op.a_plane];
#pragma GCC unroll 4
        for (int j = 0; j < NV; ++j) {
          re[i][j] -= ai * bi[j];
          im[i][j] += ar * bi[j];
          im[i][j] += ai * br[j];
        }
      }
    }
  }
  if (add) {
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < NV; ++j) {
        re[i][j] += load(acc + i * acc_row + j * L);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < NV; ++j) {
      store(acc + i * acc_row + j * L, re[i][j]);
      if constexpr (Planes == 2) {
        store(acc + (MR + i) * acc_row + j * L, im[i][j]);
      }
    }
  }
}

template <class R, int Planes, int MR>
inline void tile_rows(int nv, int64_t k, const TileOperands<R>& op, R* acc, int64_t acc_row, bool add) {
  if (nv == 1) {
    return tile_product<R, Planes, MR, 1>(k, op, acc, acc_row, add);
  }
  if (nv == 2) {
    return tile_product<R, Planes, MR, 2>(k, op, acc, acc_row, add);
  }
  if constexpr (TileShape<Planes>::kVectors == 3) {
    tile_product<R, Planes, MR, 3>(k, op, acc, acc_row, add);
  }
}

/// Largest tile height not above `rows`: 8, 4, 2 or 1 (as far as the register file goes).
template <int Planes>
inline int tile_height(int64_t rows) {
  constexpr int kMax = TileShape<Planes>::kRows;
  if (kMax >= 8 && rows >= 8) {
    return 8;
  }
  if (kMax >= 4 && rows >= 4) {
    return 4;
  }
  return rows >= 2 ? 2 : 1;
}

/// Runs the tile of the given height (one of tile_height's results) and `nv` vectors.
template <class R, int Planes>
inline void run_tile(int height, int nv, int64_t k, const TileOperands<R>& op, R* acc, int64_t acc_row, bool add) {
  constexpr int kMax = TileShape<Planes>::kRows;
  if constexpr (kMax >= 8) {
    if (height == 8) {
      return tile_rows<R, Planes, 8>(nv, k, op, acc, acc_row, add);
    }
  }
  if constexpr (kMax >= 4) {
    if (height == 4) {
      return tile_rows<R, Planes, 4>(nv, k, op, acc, acc_row, add);
    }
  }
  if (height == 2) {
    return tile_rows<R, Planes, 2>(nv, k, op, acc, acc_row, add);
  }
  tile_rows<R, Planes, 1>(nv, k, op, acc, acc_row, add);
}

} // namespace gemm_detail
} // namespace CPU_CAPABILITY
} // namespace at::native
