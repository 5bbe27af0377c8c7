#pragma once
// Products with a vector or a few. They run at memory speed, so each element of the matrix is read once, in storage
// order.

#include <aten/native/cpu/gemm.h>
#include <aten/native/cpu/gemm_pack.h>
#include <aten/native/cpu/gemm_tile.h>
#include <aten/native/vec/Vec.h>
#include <aten/parallel/Parallel.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace gemm_detail {

/// Multiply-adds of a matrix-vector product worth another thread.
inline constexpr int64_t kVectorTaskWork = int64_t(1) << 15;

/// Calls f(begin, end) for rows [0, m) on several threads, each of which begins at a whole group of rows: then the same
/// ones are taken together, and summed in the same order, for any number of threads.
template <class F>
void for_row_groups(int64_t m, int64_t grain, const F& f) {
  constexpr int64_t kGroup = 16;
  at::parallel_for(0, at::divup(m, kGroup), at::divup(grain, kGroup), [&](int64_t begin, int64_t end) {
    f(begin * kGroup, std::min(m, end * kGroup));
  });
}

template <class R>
inline R lane_sum(Vector<R> v) {
  R sum = 0;
  for (int i = 0; i < kLanes<R>; ++i) {
    sum += v[i];
  }
  return sum;
}

template <class R>
  requires std::is_arithmetic_v<R>
inline Vector<R> load_core(const R* from) {
  return load(from);
}
template <class T>
inline constexpr bool kWidened = std::is_same_v<T, c10::BFloat16> || std::is_same_v<T, c10::Half>;
/// As many adjacent elements as a vector of float32 has, widened.
template <class T>
  requires kWidened<T>
inline Vector<float> load_core(const T* from) {
  static_assert(vec::VecFloat::size() == kLanes<float>);
  return std::bit_cast<Vector<float>>(vec::load_float(from).v);
}

/// Asks the second cache for an element of the next N rows. Of rows that are shorter than a page, and of several at
/// once, the processor sees too few to do so itself. Elements that lie together on a line are asked for once. The
/// address may lie behind the last row, so it is no pointer to an element.
template <int N, class T>
inline void prefetch_next_rows(const T* from, int64_t row_stride, int64_t offset) {
  if ((offset * int64_t(sizeof(T))) % 64 == 0) {
    const auto ahead = static_cast<uintptr_t>(N * row_stride) * sizeof(T);
    __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(from) + ahead), 0, 2);
  }
}

/// Whether a matrix is too large to be in a cache from the last time, so that its next rows are worth asking for.
inline bool from_memory(int64_t elements, size_t element_size) {
  return elements * static_cast<int64_t>(element_size) > int64_t(1) << 19;
}

/// Dot products of N adjacent rows with x. Elements are widened in registers, and the lanes of a row are summed once.
/// kAhead: the next N rows are asked for meanwhile.
template <int N, bool kAhead, class T, class R>
inline __attribute__((always_inline)) void dot_rows(int64_t k, const T* a, int64_t row_stride, const R* x, R* sums) {
  constexpr int L = kLanes<R>;
  constexpr int kChains = N == 1 ? 4 : N == 2 || !std::is_same_v<T, R> ? 2 : 1;
  Vector<R> acc[N][kChains] = {};
  int64_t p = 0;
  for (; p + kChains * L <= k; p += kChains * L) {
#pragma GCC unroll 4
    for (int c = 0; c < kChains; ++c) {
      const Vector<R> xv = load(x + p + c * L);
#pragma GCC unroll 4
      for (int i = 0; i < N; ++i) {
        const T* const from = a + i * row_stride + p + c * L;
        if constexpr (kAhead) {
          prefetch_next_rows<N>(from, row_stride, c * L);
        }
        acc[i][c] += load_core(from) * xv;
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < N; ++i) {
    Vector<R> total = acc[i][0];
#pragma GCC unroll 4
    for (int c = 1; c < kChains; ++c) {
      total += acc[i][c];
    }
    R sum = lane_sum<R>(total);
    for (int64_t q = p; q < k; ++q) {
      sum += static_cast<R>(a[i * row_stride + q]) * x[q];
    }
    sums[i] += sum;
  }
}

/// The same for any number of rows.
template <bool kAhead, class T, class R>
inline void dot_all_rows(int64_t rows, int64_t k, const T* a, int64_t row_stride, const R* x, R* sums) {
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    dot_rows<4, kAhead>(k, a + i * row_stride, row_stride, x, sums + i);
  }
  for (; i < rows; ++i) {
    dot_rows<1, kAhead>(k, a + i * row_stride, row_stride, x, sums + i);
  }
}

/// Adds the dot products of N rows with M vectors to sums[row * kMostDotColumns + vector], each in the same order for
/// any N and M. kAhead: the next N rows are asked for meanwhile.
template <class R, int N, int M, bool kAhead>
inline void dot_tile(int64_t k, const R* a, int64_t a_row, const R* x, int64_t x_row, R* sums) {
  constexpr int L = kLanes<R>;
  Vector<R> acc[N][M] = {};
  int64_t p = 0;
  for (; p + L <= k; p += L) {
    Vector<R> xv[M];
#pragma GCC unroll 4
    for (int j = 0; j < M; ++j) {
      xv[j] = load(x + j * x_row + p);
    }
#pragma GCC unroll 4
    for (int i = 0; i < N; ++i) {
      if constexpr (kAhead) {
        prefetch_next_rows<N>(a + i * a_row + p, a_row, 0);
      }
      const Vector<R> av = load(a + i * a_row + p);
#pragma GCC unroll 4
      for (int j = 0; j < M; ++j) {
        acc[i][j] += av * xv[j];
      }
    }
  }
  // By way of memory: combined in place, the lanes would keep all sums in memory from the first step on.
  alignas(64) R lanes[N][M][L];
#pragma GCC unroll 4
  for (int i = 0; i < N; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < M; ++j) {
      store(lanes[i][j], acc[i][j]);
    }
  }
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < M; ++j) {
      R sum = vec::reduce_add(vec::Vec<R, L>::load(lanes[i][j]));
      for (int64_t q = p; q < k; ++q) {
        sum += a[i * a_row + q] * x[j * x_row + q];
      }
      sums[i * kMostDotColumns + j] += sum;
    }
  }
}

/// The same for one to kFewColumns vectors.
template <class R, int N, bool kAhead>
inline void dot_few(int64_t k, const R* a, int64_t a_row, const R* x, int64_t x_row, int64_t vectors, R* sums) {
  if (vectors == 4) {
    return dot_tile<R, N, 4, kAhead>(k, a, a_row, x, x_row, sums);
  }
  if (vectors == 3) {
    return dot_tile<R, N, 3, kAhead>(k, a, a_row, x, x_row, sums);
  }
  if (vectors == 2) {
    return dot_tile<R, N, 2, kAhead>(k, a, a_row, x, x_row, sums);
  }
  dot_tile<R, N, 1, kAhead>(k, a, a_row, x, x_row, sums);
}

/// Dot product of two runs of core elements.
template <class R>
inline R dot_run(int64_t k, const R* a, const R* x) {
  R sum = 0;
  dot_rows<1, false>(k, a, 0, x, &sum);
  return sum;
}

/// y[i] += sum over four columns, each of `n` adjacent elements; those read next lie `next` elements behind.
template <class R>
inline void add_columns(int64_t n, const R* const* columns, const R* x, int count, R* y, int64_t next) {
  if (count == 4) {
    const R *a0 = columns[0], *a1 = columns[1], *a2 = columns[2], *a3 = columns[3];
    const R x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    constexpr int L = kLanes<R>;
    int64_t i = 0;
    for (; i + L <= n; i += L) {
      // To the second cache: the processor begins anew with each column.
      __builtin_prefetch(a0 + i + next, 0, 2);
      __builtin_prefetch(a1 + i + next, 0, 2);
      __builtin_prefetch(a2 + i + next, 0, 2);
      __builtin_prefetch(a3 + i + next, 0, 2);
      Vector<R> sum = load(y + i);
      sum += load(a0 + i) * x0;
      sum += load(a1 + i) * x1;
      sum += load(a2 + i) * x2;
      sum += load(a3 + i) * x3;
      store(y + i, sum);
    }
    for (; i < n; ++i) {
      y[i] += a0[i] * x0 + a1[i] * x1 + a2[i] * x2 + a3[i] * x3;
    }
    return;
  }
  for (int c = 0; c < count; ++c) {
    for (int64_t i = 0; i < n; ++i) {
      y[i] += columns[c][i] * x[c];
    }
  }
}

template <class T>
inline void finish_vector(
    int64_t n,
    const Core<T>* sums,
    T* y,
    int64_t y_stride,
    typename Gemm<T>::Factor alpha,
    typename Gemm<T>::Factor beta) {
  using R = Core<T>;
  using F = typename Gemm<T>::Factor;
  for (int64_t i = 0; i < n; ++i) {
    T& out = y[i * y_stride];
    const R scaled = R(alpha) * sums[i];
    out = static_cast<T>(beta == F(0) ? scaled : R(beta) * static_cast<R>(out) + scaled);
  }
}

/// Rows [begin, end) of y = beta * y + alpha * A x for a real dtype; x is contiguous in the core type.
template <class T>
void matrix_vector_rows(
    int64_t begin,
    int64_t end,
    int64_t k,
    Matrix<const T> a,
    const Core<T>* x,
    T* y,
    int64_t y_stride,
    typename Gemm<T>::Factor alpha,
    typename Gemm<T>::Factor beta) {
  using R = Core<T>;
  constexpr bool kSame = std::is_same_v<T, R>;
  constexpr int64_t kRun = 256;
  constexpr int64_t kBlock = 2048;
  const bool ahead = from_memory((end - begin) * k, sizeof(T));
  R sums[kBlock];
  for (int64_t i0 = begin; i0 < end; i0 += kBlock) {
    const int64_t rows = std::min(kBlock, end - i0);
    std::fill(sums, sums + rows, R(0));
    const T* from = a.data + i0 * a.row_stride;
    if (a.col_stride == 1 || k == 1) {
      if constexpr (kSame || kWidened<T>) {
        const auto dot = ahead ? dot_all_rows<true, T, R> : dot_all_rows<false, T, R>;
        dot(rows, k, from, a.row_stride, x, sums);
      } else {
        alignas(64) R run[kRun];
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t p = 0; p < k; p += kRun) {
            const int64_t count = std::min(kRun, k - p);
            convert_run(from + i * a.row_stride + p, run, count);
            sums[i] += dot_run(count, run, x + p);
          }
        }
      }
    } else if (a.row_stride == 1) {
      if constexpr (kSame) {
        for (int64_t p = 0; p < k; p += 4) {
          const R* columns[4];
          const int count = int(std::min<int64_t>(4, k - p));
          for (int c = 0; c < count; ++c) {
            columns[c] = from + (p + c) * a.col_stride;
          }
          add_columns(rows, columns, x + p, count, sums, 4 * a.col_stride);
        }
      } else {
        alignas(64) R run[kBlock];
        const R* columns[1] = {run};
        for (int64_t p = 0; p < k; ++p) {
          convert_run(from + p * a.col_stride, run, rows);
          add_columns(rows, columns, x + p, 1, sums, 0);
        }
      }
    } else {
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t p = 0; p < k; ++p) {
          sums[i] += static_cast<R>(from[i * a.row_stride + p * a.col_stride]) * x[p];
        }
      }
    }
    finish_vector<T>(rows, sums, y + i0 * y_stride, y_stride, alpha, beta);
  }
}

/// The same for complex numbers; x is conjugated already, A as it says.
template <class T>
void matrix_vector_rows_complex(
    int64_t begin, int64_t end, int64_t k, Matrix<const T> a, const T* x, T* y, int64_t y_stride, T alpha, T beta) {
  using R = Core<T>;
  constexpr int64_t kBlock = 512;
  R re[kBlock], im[kBlock];
  const R sign = a.conj ? R(-1) : R(1);
  for (int64_t i0 = begin; i0 < end; i0 += kBlock) {
    const int64_t rows = std::min(kBlock, end - i0);
    std::fill(re, re + rows, R(0));
    std::fill(im, im + rows, R(0));
    const bool by_columns = a.row_stride == 1 && a.col_stride != 1;
    const auto add = [&](int64_t i, int64_t p) {
      const R* e = reinterpret_cast<const R*>(a.data + (i0 + i) * a.row_stride + p * a.col_stride);
      const R er = e[0], ei = sign * e[1];
      re[i] += er * x[p].real() - ei * x[p].imag();
      im[i] += er * x[p].imag() + ei * x[p].real();
    };
    if (by_columns) {
      for (int64_t p = 0; p < k; ++p) {
        for (int64_t i = 0; i < rows; ++i) {
          add(i, p);
        }
      }
    } else {
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t p = 0; p < k; ++p) {
          add(i, p);
        }
      }
    }
    for (int64_t i = 0; i < rows; ++i) {
      T& out = y[(i0 + i) * y_stride];
      const T scaled = alpha * T(re[i], im[i]);
      out = beta == T(0) ? scaled : beta * out + scaled;
    }
  }
}

/// y = beta * y + alpha * A x with A (m x k).
template <class T>
void matrix_vector(
    int64_t m,
    int64_t k,
    Matrix<const T> a,
    const T* x,
    int64_t x_stride,
    bool x_conj,
    T* y,
    int64_t y_stride,
    typename Gemm<T>::Factor alpha,
    typename Gemm<T>::Factor beta) {
  using R = Core<T>;
  const int64_t grain = std::max<int64_t>(1, kVectorTaskWork / k);
  if constexpr (Element<T>::kPlanes == 2) {
    Scratch scratch(k * int64_t(sizeof(T)));
    T* values = scratch.as<T>();
    for (int64_t p = 0; p < k; ++p) {
      values[p] = x_conj ? T(x[p * x_stride].real(), -x[p * x_stride].imag()) : x[p * x_stride];
    }
    for_row_groups(m, grain, [&](int64_t begin, int64_t end) {
      matrix_vector_rows_complex<T>(begin, end, k, a, values, y, y_stride, alpha, beta);
    });
  } else {
    const bool in_place = std::is_same_v<T, R> && (x_stride == 1 || k == 1);
    Scratch scratch(in_place ? 0 : k * int64_t(sizeof(R)));
    const R* values;
    if (in_place) {
      values = reinterpret_cast<const R*>(x);
    } else {
      R* copy = scratch.as<R>();
      if (x_stride == 1) {
        convert_run(x, copy, k);
      } else {
        for (int64_t p = 0; p < k; ++p) {
          copy[p] = static_cast<R>(x[p * x_stride]);
        }
      }
      values = copy;
    }
    for_row_groups(m, grain, [&](int64_t begin, int64_t end) {
      matrix_vector_rows<T>(begin, end, k, a, values, y, y_stride, alpha, beta);
    });
  }
}

/// C = beta * C + alpha * A B for a problem that has_few_columns.
template <class T>
void few_columns_product(const Gemm<T>& g) {
  constexpr int kTogether = kRegisters == 32 ? 4 : 2;
  constexpr int64_t kDepth = 4096 / sizeof(T); // so that the rows in work stay in the first cache
  const bool ahead = from_memory(g.m * g.k, sizeof(T));
  const bool in_place = g.b.row_stride == 1;
  Scratch scratch(in_place ? 0 : g.k * g.n * int64_t(sizeof(T)));
  const T* x = g.b.data;
  const int64_t x_row = in_place ? g.b.col_stride : g.k;
  if (!in_place) {
    T* copy = scratch.as<T>();
    for (int64_t p = 0; p < g.k; ++p) {
      for (int64_t j = 0; j < g.n; ++j) {
        copy[j * g.k + p] = g.b.data[p * g.b.row_stride + j * g.b.col_stride];
      }
    }
    x = copy;
  }
  const auto rows_from = [&]<int N>(int64_t i, std::integral_constant<int, N>) {
    const T* a = g.a.data + i * g.a.row_stride;
    T sums[N * kMostDotColumns] = {};
    for (int64_t p = 0; p < g.k; p += kDepth) {
      const int64_t depth = std::min(kDepth, g.k - p);
      for (int64_t j = 0; j < g.n; j += kFewColumns) {
        const auto dot = j == 0 && ahead ? dot_few<T, N, true> : dot_few<T, N, false>;
        dot(depth, a + p, g.a.row_stride, x + j * x_row + p, x_row, std::min(kFewColumns, g.n - j), sums + j);
      }
    }
    T* c = g.c.data + i * g.c.row_stride;
    for (int r = 0; r < N; ++r, c += g.c.row_stride) {
      finish_vector<T>(g.n, sums + r * kMostDotColumns, c, g.c.col_stride, g.alpha, g.beta);
    }
  };
  at::parallel_for(0, g.m, std::max<int64_t>(1, kVectorTaskWork / (g.k * g.n)), [&](int64_t begin, int64_t end) {
    int64_t i = begin;
    for (; i + kTogether <= end; i += kTogether) {
      rows_from(i, std::integral_constant<int, kTogether>{});
    }
    for (; i < end; ++i) {
      rows_from(i, std::integral_constant<int, 1>{});
    }
  });
}

} // namespace gemm_detail

template <class T>
T dot_product(int64_t n, const T* x, int64_t x_stride, bool x_conj, const T* y, int64_t y_stride, bool y_conj) {
  using namespace gemm_detail;
  using R = Core<T>;
  if constexpr (Element<T>::kPlanes == 2) {
    const R x_sign = x_conj ? R(-1) : R(1), y_sign = y_conj ? R(-1) : R(1);
    R re = 0, im = 0;
    for (int64_t i = 0; i < n; ++i) {
      const T a = x[i * x_stride], b = y[i * y_stride];
      const R ai = x_sign * a.imag(), bi = y_sign * b.imag();
      re += a.real() * b.real() - ai * bi;
      im += a.real() * bi + ai * b.real();
    }
    return T(re, im);
  } else {
    constexpr int64_t kRun = 512;
    if constexpr (std::is_same_v<T, R>) {
      if (x_stride == 1 && y_stride == 1) {
        return dot_run(n, x, y);
      }
    }
    alignas(64) R a[kRun], b[kRun];
    const auto gather = [](const T* from, int64_t stride, int64_t count, R* to) {
      if (stride == 1) {
        return convert_run(from, to, count);
      }
      for (int64_t i = 0; i < count; ++i) {
        to[i] = static_cast<R>(from[i * stride]);
      }
    };
    R sum = 0;
    for (int64_t i = 0; i < n; i += kRun) {
      const int64_t count = std::min(kRun, n - i);
      gather(x + i * x_stride, x_stride, count, a);
      gather(y + i * y_stride, y_stride, count, b);
      sum += dot_run(count, a, b);
    }
    return static_cast<T>(sum);
  }
}

} // namespace CPU_CAPABILITY
} // namespace at::native
