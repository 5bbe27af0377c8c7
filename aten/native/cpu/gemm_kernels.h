#pragma once
// Bodies of the own matrix products: blocks for the caches, a task per block of C, and gemv.h for vectors.

#include <aten/native/cpu/gemm.h>
#include <aten/native/cpu/gemm_pack.h>
#include <aten/native/cpu/gemm_tile.h>
#include <aten/native/cpu/gemv.h>
#include <aten/native/pointwise/math.h>
#include <aten/native/vec/Vec.h>
#include <aten/parallel/Parallel.h>

#include <algorithm>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace gemm_detail {

/// Multiply-adds worth handing to another thread: a few microseconds of work.
inline constexpr int64_t kTaskWork = int64_t(1) << 18;

template <class T>
inline constexpr int kTileRows = TileShape<Element<T>::kPlanes>::kRows;
template <class T>
inline constexpr int kMaxTileVectors = TileShape<Element<T>::kPlanes>::kVectors;

/// Whether sums are of a wider type than elements: those of several passes over k are kept apart then.
template <class T>
inline constexpr bool has_wide_sums = int64_t(sizeof(Core<T>)) * Element<T>::kPlanes > int64_t(sizeof(T)) &&
    !std::is_integral_v<T>;

/// The depth of one pass over k, and the largest block of C that one task computes. A packed block of B stays in the L2
/// cache.
template <class T>
struct BlockShape {
  static constexpr int64_t kBytes = int64_t(sizeof(Core<T>)) * Element<T>::kPlanes;
  static constexpr int64_t kDepth = 192;
  static constexpr int64_t kRows = has_wide_sums<T> ? 192 : int64_t(1) << 40;
  static constexpr int64_t kCols = has_wide_sums<T> ? 384 : 4096 / kBytes;
};

/// Operands of a block are read in place when that is possible and they are too small, or used too seldom, to repay a
/// copy: up to so many elements, or the right one by so many rows of the left (measured). With tiles of 512 bits the
/// left one is not copied either where it is row-major: a tile's rows stay in the first cache while the right one
/// passes by.
inline constexpr int64_t kInPlaceElements = kRegisters == 32 ? 96 * 96 : 2048;
inline constexpr int64_t kInPlaceRows = kRegisters == 32 ? 32 : 4;

/// Steps that are summed before the next are begun. In place, where rows may lie on a few sets of the first cache, they
/// are fewer.
template <class T>
int64_t block_depth(const Gemm<T>& g) {
  constexpr int64_t kInPlaceDepth = 128;
  const bool in_place = kRegisters == 32 && std::is_same_v<T, Core<T>> && g.m <= kInPlaceRows;
  return std::min(g.k, in_place ? kInPlaceDepth : BlockShape<T>::kDepth);
}

inline int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// Vectors in the next panel so that the `left` remaining ones spread evenly over the fewest panels.
template <class T>
inline int next_panel_vectors(int64_t left) {
  return int(ceil_div(left, ceil_div(left, kMaxTileVectors<T>)));
}

/// Adds a finished tile to C: c = beta * c + alpha * acc, or without the old c when beta is zero.
template <class T, class C>
struct TileStore {
  using R = Core<T>;
  Matrix<C> c;
  typename Gemm<T>::Factor alpha, beta;

  static constexpr bool kComplex = Element<T>::kPlanes == 2;

  void operator()(const R* acc, int height, int width, int64_t i0, int64_t j0, int64_t rows, int64_t cols) const {
    for (int64_t i = 0; i < rows; ++i) {
      const R* re = acc + i * width;
      C* out = c.data + (i0 + i) * c.row_stride + j0 * c.col_stride;
      if constexpr (kComplex) {
        const R* im = re + int64_t(height) * width;
        for (int64_t j = 0; j < cols; ++j) {
          put(out[j * c.col_stride], C(re[j], im[j]));
        }
      } else if (c.col_stride == 1) {
        put_row(re, out, cols);
      } else {
        for (int64_t j = 0; j < cols; ++j) {
          put(out[j * c.col_stride], re[j]);
        }
      }
    }
  }

 private:
  template <class V>
  void put(C& out, V value) const {
    using F = typename Gemm<T>::Factor;
    if constexpr (std::is_integral_v<F>) {
      const R scaled = R(alpha) * R(value);
      out = static_cast<C>(beta == F(0) ? scaled : R(beta) * R(out) + scaled);
    } else {
      const F scaled = alpha == F(1) ? F(value) : alpha * F(value);
      out = static_cast<C>(beta == F(0) ? scaled : beta == F(1) ? F(out) + scaled : beta * F(out) + scaled);
    }
  }

  static void narrow_row(const float* acc, C* out, int64_t cols) {
    using vec::VecFloat;
    int64_t j = 0;
    for (; j + VecFloat::size() <= cols; j += VecFloat::size()) {
      vec::store_float(VecFloat::load(acc + j), out + j);
    }
    if (j < cols) {
      vec::store_float(VecFloat::load(acc + j, int(cols - j)), out + j, int(cols - j));
    }
  }

  void put_row(const R* acc, C* out, int64_t cols) const {
    using F = typename Gemm<T>::Factor;
    if (alpha == F(1) && beta == F(0)) {
      if constexpr (std::is_same_v<R, float> && !std::is_same_v<C, float>) {
        return narrow_row(acc, out, cols);
      }
      for (int64_t j = 0; j < cols; ++j) {
        out[j] = static_cast<C>(acc[j]);
      }
    } else if (alpha == F(1) && beta == F(1)) {
      for (int64_t j = 0; j < cols; ++j) {
        out[j] = static_cast<C>(R(out[j]) + acc[j]);
      }
    } else {
      for (int64_t j = 0; j < cols; ++j) {
        put(out[j], acc[j]);
      }
    }
  }
};

/// One block of C, serial. T is the dtype of A and B, C that of the result (float when halves need several passes).
template <class T, class C>
void gemm_block(const Gemm<T>& g, Matrix<const T> a, Matrix<const T> b, int64_t m, int64_t n, Matrix<C> c) {
  using R = Core<T>;
  constexpr int P = Element<T>::kPlanes;
  constexpr int64_t L = kLanes<R>;
  constexpr int MR = kTileRows<T>;
  const int64_t depth = block_depth(g);
  const int64_t vectors = ceil_div(n, L);
  const bool a_in_place = (std::is_same_v<T, R> || P == 2) && !a.conj &&
      (n <= L * kMaxTileVectors<T> || m * depth <= kInPlaceElements || (kRegisters == 32 && a.col_stride == 1));
  const bool b_in_place = std::is_same_v<T, R> && P == 1 && b.col_stride == 1 && n % L == 0 &&
      (m <= kInPlaceRows || n * depth <= kInPlaceElements);
  const int64_t a_size = a_in_place ? 0 : MR * depth * P;
  const int64_t b_size = b_in_place ? 0 : vectors * L * depth * P;
  const int64_t b_offset = ceil_div(a_size, 64) * 64;
  Scratch scratch((b_offset + b_size) * int64_t(sizeof(R)));
  R* a_pack = scratch.as<R>();
  R* b_pack = a_pack + b_offset;
  alignas(64) R acc[P * MR * kMaxTileVectors<T> * L];
  using F = typename Gemm<T>::Factor;
  // Whole tiles are the result itself, or are added to it.
  const bool is_plain =
      std::is_same_v<C, R> && P == 1 && c.col_stride == 1 && g.alpha == F(1) && (g.beta == F(0) || g.beta == F(1));

  for (int64_t k0 = 0; k0 < g.k; k0 += depth) {
    const int64_t kb = std::min(depth, g.k - k0);
    if (!b_in_place) {
      // By rows, some rows at a time: they are read from memory as they lie.
      constexpr int64_t kPackedRows = 8;
      const int64_t steps = b.col_stride == 1 ? kPackedRows : kb;
      for (int64_t p = 0; p < kb; p += steps) {
        for (int64_t v = 0; v < vectors;) {
          const int nv = next_panel_vectors<T>(vectors - v);
          pack_panel<T>(
              b.data + (k0 + p) * b.row_stride + v * L * b.col_stride, b.conj, b.col_stride, b.row_stride,
              std::min(nv * L, n - v * L), std::min(steps, kb - p), nv * L, b_pack + (v * kb + nv * p) * L * P);
          v += nv;
        }
      }
    }
    const TileStore<T, C> put{c, g.alpha, k0 == 0 ? g.beta : typename Gemm<T>::Factor(1)};
    for (int64_t i = 0; i < m;) {
      int height = MR;
      TileOperands<R> op{};
      if (a_in_place) {
        height = tile_height<P>(m - i);
        op.a = reinterpret_cast<const R*>(a.data + i * a.row_stride + k0 * a.col_stride);
        op.a_row = a.row_stride * P;
        op.a_col = a.col_stride * P;
        op.a_plane = 1;
      } else {
        pack_panel<T>(
            a.data + i * a.row_stride + k0 * a.col_stride, a.conj, a.row_stride, a.col_stride,
            std::min<int64_t>(MR, m - i), kb, MR, a_pack);
        op.a = a_pack;
        op.a_row = 1;
        op.a_col = MR * P;
        op.a_plane = MR;
      }
      for (int64_t v = 0; v < vectors;) {
        const int nv = next_panel_vectors<T>(vectors - v);
        const int64_t j = v * L;
        if (b_in_place) {
          op.b = reinterpret_cast<const R*>(b.data + k0 * b.row_stride + j);
          op.b_row = b.row_stride;
        } else {
          op.b = b_pack + j * kb * P;
          op.b_row = nv * L * P;
          op.b_plane = nv * L;
        }
        if (is_plain && height <= m - i && nv * L <= n - j) {
          R* to = reinterpret_cast<R*>(c.data + i * c.row_stride + j);
          run_tile<R, P>(height, nv, kb, op, to, c.row_stride, k0 != 0 || g.beta == F(1));
        } else {
          run_tile<R, P>(height, nv, kb, op, acc, nv * L, /*add=*/false);
          put(acc, height, int(nv * L), i, j, std::min<int64_t>(height, m - i), std::min<int64_t>(nv * L, n - j));
        }
        v += nv;
      }
      i += height;
    }
  }
}

/// A task of the product: converts through a float block where one pass over k would not do for a narrow type.
template <class T>
void gemm_task(const Gemm<T>& g, Matrix<const T> a, Matrix<const T> b, int64_t m, int64_t n, Matrix<T> c) {
  if constexpr (has_wide_sums<T>) {
    if (g.k > BlockShape<T>::kDepth) {
      Scratch block(m * n * int64_t(sizeof(Core<T>)));
      Matrix<Core<T>> sum{block.as<Core<T>>(), n, 1};
      Gemm<T> plain = g;
      plain.alpha = typename Gemm<T>::Factor(1);
      plain.beta = typename Gemm<T>::Factor(0);
      gemm_block<T, Core<T>>(plain, a, b, m, n, sum);
      const TileStore<T, T> put{c, g.alpha, g.beta};
      put(sum.data, int(m), int(n), 0, 0, m, n);
      return;
    }
  }
  gemm_block<T, T>(g, a, b, m, n, c);
}

/// C = beta * C, for products over nothing.
template <class T>
void scale_only(const Gemm<T>& g) {
  using F = typename Gemm<T>::Factor;
  for (int64_t s = 0; s < g.batch; ++s) {
    for (int64_t i = 0; i < g.m; ++i) {
      for (int64_t j = 0; j < g.n; ++j) {
        T& c = g.c.data[s * g.c_batch + i * g.c.row_stride + j * g.c.col_stride];
        c = g.beta == F(0) ? T(0) : static_cast<T>(pointwise::mul(F(c), F(g.beta)));
      }
    }
  }
}

/// A few multiply-adds: plain loops beat the set-up of anything else.
template <class T>
void gemm_tiny(const Gemm<T>& g, Matrix<const T> a, Matrix<const T> b, Matrix<T> c) {
  using R = Core<T>;
  using F = typename Gemm<T>::Factor;
  for (int64_t i = 0; i < g.m; ++i) {
    for (int64_t j = 0; j < g.n; ++j) {
      const T* x = a.data + i * a.row_stride;
      const T* y = b.data + j * b.col_stride;
      R sum = 0;
      for (int64_t p = 0; p < g.k; ++p) {
        sum += static_cast<R>(x[p * a.col_stride]) * static_cast<R>(y[p * b.row_stride]);
      }
      T& out = c.data[i * c.row_stride + j * c.col_stride];
      const R scaled = R(g.alpha) * sum;
      out = static_cast<T>(g.beta == F(0) ? scaled : R(g.beta) * static_cast<R>(out) + scaled);
    }
  }
}

} // namespace gemm_detail

template <class T>
void gemm(const Gemm<T>& problem) {
  using namespace gemm_detail;
  if (problem.batch == 0 || problem.m == 0 || problem.n == 0) {
    return;
  }
  if (problem.k == 0) {
    return scale_only(problem);
  }

  // C by columns: compute its transpose, so that tiles are written along adjacent elements.
  const Gemm<T> g =
      problem.c.col_stride != 1 && problem.c.row_stride == 1 && problem.n > 1 ? problem.transposed() : problem;
  const auto batch_a = [&](int64_t s) {
    return Matrix<const T>{g.a.data + s * g.a_batch, g.a.row_stride, g.a.col_stride, g.a.conj};
  };
  const auto batch_b = [&](int64_t s) {
    return Matrix<const T>{g.b.data + s * g.b_batch, g.b.row_stride, g.b.col_stride, g.b.conj};
  };
  const auto batch_c = [&](int64_t s) {
    return Matrix<T>{g.c.data + s * g.c_batch, g.c.row_stride, g.c.col_stride, false};
  };

  const int64_t work = g.m * g.n * g.k;
  if (g.m == 1 || g.n == 1) {
    // One operand is a vector: memory-bound, the matrix is read once and never packed.
    const auto one = [&](int64_t s) {
      if (g.n == 1) {
        matrix_vector<T>(
            g.m, g.k, batch_a(s), batch_b(s).data, g.b.row_stride, g.b.conj, batch_c(s).data, g.c.row_stride, g.alpha,
            g.beta);
      } else {
        matrix_vector<T>(
            g.n, g.k, batch_b(s).transposed(), batch_a(s).data, g.a.col_stride, g.a.conj, batch_c(s).data,
            g.c.col_stride, g.alpha, g.beta);
      }
    };
    if (g.batch == 1) {
      return one(0);
    }
    at::parallel_for(0, g.batch, std::max<int64_t>(1, kTaskWork / work), [&](int64_t begin, int64_t end) {
      for (int64_t s = begin; s < end; ++s) {
        one(s);
      }
    });
    return;
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (has_few_columns(g)) {
      return few_columns_product(g);
    }
    if (has_few_columns(g.transposed())) {
      return few_columns_product(g.transposed());
    }
  }
  if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>) {
    // A few rows of 16-bit numbers one after the other: tiles would widen all of the other factor first (measured).
    const Gemm<T> rows = g.m <= g.n ? g : g.transposed();
    if (g.batch == 1 && g.k >= 128 && (rows.m == 2 || (rows.m <= kFewColumns && rows.b.row_stride == 1))) {
      Gemm<T> row = rows;
      row.m = 1;
      for (int64_t i = 0; i < rows.m; ++i) {
        row.a = rows.a.shifted(i, 0);
        row.c = rows.c.shifted(i, 0);
        gemm(row);
      }
      return;
    }
  }
  if constexpr (Element<T>::kPlanes == 1) {
    if (work <= 64) {
      for (int64_t s = 0; s < g.batch; ++s) {
        gemm_tiny(g, batch_a(s), batch_b(s), batch_c(s));
      }
      return;
    }
  }

  constexpr int64_t kColStep = kLanes<Core<T>> * kMaxTileVectors<T>;
  int64_t row_blocks = ceil_div(g.m, BlockShape<T>::kRows);
  int64_t col_blocks = ceil_div(g.n, BlockShape<T>::kCols);
  const int64_t wanted = std::clamp<int64_t>(work / kTaskWork * g.batch, 1, at::get_num_threads());
  if (g.batch * row_blocks * col_blocks % wanted != 0) {
    // As much for each thread: by columns, so that none packs what another does, and by rows where there are too few.
    const int64_t by_cols = std::clamp<int64_t>(g.n / (2 * kColStep), 1, ceil_div(wanted, g.batch * row_blocks));
    const int64_t by_rows = ceil_div(wanted, g.batch * row_blocks * by_cols);
    col_blocks = ceil_div(col_blocks, by_cols) * by_cols;
    row_blocks = std::min(row_blocks * by_rows, ceil_div(g.m, kTileRows<T>));
  }
  const int64_t rows = ceil_div(ceil_div(g.m, row_blocks), kTileRows<T>) * kTileRows<T>;
  const int64_t cols = ceil_div(ceil_div(g.n, col_blocks), kLanes<Core<T>>) * kLanes<Core<T>>;
  row_blocks = ceil_div(g.m, rows);
  col_blocks = ceil_div(g.n, cols);
  const int64_t blocks = row_blocks * col_blocks;
  const int64_t grain = std::max<int64_t>(1, kTaskWork / std::max<int64_t>(1, work / blocks));
  at::parallel_for(0, g.batch * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t s = task / blocks, block = task % blocks;
      const int64_t i = block / col_blocks * rows, j = block % col_blocks * cols;
      gemm_task<T>(
          g, batch_a(s).shifted(i, 0), batch_b(s).shifted(0, j), std::min(rows, g.m - i), std::min(cols, g.n - j),
          batch_c(s).shifted(i, j));
    }
  });
}

} // namespace CPU_CAPABILITY
} // namespace at::native
