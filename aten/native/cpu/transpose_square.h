// N vectors of N lanes as the rows of a matrix, turned in registers.
#pragma once

#include <aten/native/vec/Vec.h>

#include <utility>

namespace at::native {
inline namespace CPU_CAPABILITY {

// a0 b0 a1 b1 ... of the lower or the higher halves of a and b.
template <bool High, class T, int N, int... I>
VEC_INLINE vec::Vec<T, N> interleave(vec::Vec<T, N> a, vec::Vec<T, N> b, std::integer_sequence<int, I...>) {
  return vec::Vec<T, N>(__builtin_shufflevector(a.v, b.v, ((I % 2) * N + I / 2 + (High ? N / 2 : 0))...));
}

// Each round interleaves the rows of the upper half with those of the lower one: log2(N) of them make rows of columns.
template <class T, int N>
VEC_INLINE void transpose_square(vec::Vec<T, N> (&rows)[N]) {
  using Lanes = std::make_integer_sequence<int, N>;
  for (int round = N; round > 1; round /= 2) {
    vec::Vec<T, N> next[N];
    for (int i = 0; i < N / 2; ++i) {
      next[2 * i] = interleave<false>(rows[i], rows[i + N / 2], Lanes{});
      next[2 * i + 1] = interleave<true>(rows[i], rows[i + N / 2], Lanes{});
    }
    for (int i = 0; i < N; ++i) {
      rows[i] = next[i];
    }
  }
}

/// Squares of 16 bytes by 16 bytes, turned side by side: their rows lie in memory apart.
template <class T>
struct Squares {
#if defined(__AVX2__)
  static constexpr int kBlocks = 2;
#else
  static constexpr int kBlocks = 1;
#endif
  static constexpr int kRows = 16 / sizeof(T), kLanes = kRows * kBlocks;
  using Row = vec::Vec<T, kRows>;
  using V = vec::Vec<T, kLanes>;

  /// Row(block) for each square, one behind the other.
  template <class F>
  static VEC_INLINE V join(const F& row) {
    if constexpr (kBlocks == 1) {
      return row(0);
    } else {
      return join(row(0), row(1), std::make_integer_sequence<int, kLanes>{});
    }
  }
  /// f(block, row) for each square.
  template <class F>
  static VEC_INLINE void split(V rows, const F& f) {
    for (int block = 0; block < kBlocks; ++block) {
      f(block, part(rows, block, std::make_integer_sequence<int, kRows>{}));
    }
  }

  static VEC_INLINE void transpose(V (&rows)[kRows]) {
    using Lanes = std::make_integer_sequence<int, kLanes>;
    for (int round = kRows; round > 1; round /= 2) {
      V next[kRows];
      for (int i = 0; i < kRows / 2; ++i) {
        next[2 * i] = interleave_blocks<false>(rows[i], rows[i + kRows / 2], Lanes{});
        next[2 * i + 1] = interleave_blocks<true>(rows[i], rows[i + kRows / 2], Lanes{});
      }
      for (int i = 0; i < kRows; ++i) {
        rows[i] = next[i];
      }
    }
  }

 private:
  template <int... I>
  static VEC_INLINE V join(Row a, Row b, std::integer_sequence<int, I...>) {
    return V(__builtin_shufflevector(a.v, b.v, I...));
  }
  template <int... I>
  static VEC_INLINE Row part(V rows, int block, std::integer_sequence<int, I...>) {
    return block == 0 ? Row(__builtin_shufflevector(rows.v, rows.v, I...))
                      : Row(__builtin_shufflevector(rows.v, rows.v, (I + kLanes - kRows)...));
  }
  template <bool High, int... I>
  static VEC_INLINE V interleave_blocks(V a, V b, std::integer_sequence<int, I...>) {
    return V(__builtin_shufflevector(
        a.v, b.v, ((I % 2) * kLanes + I / kRows * kRows + I % kRows / 2 + (High ? kRows / 2 : 0))...));
  }
};

} // namespace CPU_CAPABILITY
} // namespace at::native
