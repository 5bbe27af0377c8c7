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

} // namespace CPU_CAPABILITY
} // namespace at::native
