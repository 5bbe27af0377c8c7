#pragma once
// Maximum of windows whose rows fill few vectors: four windows of a row at once, each from all its elements.

#include <aten/native/cpu/pool_rows.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <limits>
#include <type_traits>

namespace at::native {
inline namespace CPU_CAPABILITY {

/// What the maximum over nothing is; only dilated windows that lie in the padding as a whole ask for it.
template <class R>
constexpr R lowest() {
  return std::numeric_limits<R>::has_infinity ? -std::numeric_limits<R>::infinity() : std::numeric_limits<R>::lowest();
}

template <class T>
bool is_nan(T x) {
  if constexpr (kIsReal<T>) {
    return x != x;
  } else {
    return false;
  }
}

/// Whether windows are taken one by one: rows fill few vectors, windows are small.
template <class T>
bool has_narrow_rows(const PoolWindows& w) {
  constexpr int64_t kSmallWindow = 3;
  return w.dim[2].in < 2 * Lanes<T>::kSize && w.dim[2].kernel > 0 && w.dim[2].kernel <= kSmallWindow;
}

/// Four elements at distances of `stride`, nothing between or behind them is needed to exist.
template <class T, int Stride>
VEC_INLINE vec::Vec<Core<T>, 4> load_four(const T* x, int64_t stride) {
  using R = Core<T>;
  using V = vec::Vec<R, 4>;
  if constexpr (std::is_same_v<T, R> && Stride == 1) {
    return V::load(x);
  } else if constexpr (std::is_same_v<T, R> && Stride == 2) {
    // The second four begin with an odd element, so that they end with the last one that is wanted.
    using Lane = vec::int_same<R>;
    return V(__builtin_shuffle(V::load(x).v, V::load(x + 3).v, typename vec::Vec<Lane, 4>::raw{0, 2, 5, 7}));
  } else {
    return V(typename V::raw{R(x[0]), R(x[stride]), R(x[2 * stride]), R(x[3 * stride])});
  }
}

/// Where the rows under a row of windows begin.
using RowOffsets = c10::SmallVector<int64_t, 9>;

/// Windows o to o + 3 of a row, which all have as many elements. A kernel of `Kernel` columns next to each other, of
/// any columns for 0.
template <class T, int Stride, int Kernel>
void max_four_windows(const T* x, const PoolDim& columns, const RowOffsets& rows, int64_t o, T* y, int64_t* indices) {
  using R = Core<T>;
  using P = Place<T>;
  using V = vec::Vec<R, 4>;
  using I = vec::Vec<P, 4>;
  const int64_t stride = Stride > 0 ? Stride : columns.stride, begin = o * stride - columns.padding;
  const int64_t kernel = Kernel > 0 ? Kernel : columns.kernel, step = Kernel > 0 ? 1 : columns.step;
  const I starts = I(static_cast<P>(begin)) + I::iota() * I(static_cast<P>(stride));
  V best(lowest<R>());
  // The first element, unless another is greater; 0 for a window that lies in the padding.
  I place = rows.empty() ? I(P(0)) : starts + I(static_cast<P>(rows[0]));
  for (const int64_t offset : rows) {
    I here = starts + I(static_cast<P>(offset));
    const T* from = x + offset + begin;
#pragma GCC unroll 3
    for (int64_t k = 0; k < kernel; ++k) {
      const V v = load_four<T, Stride>(from + k * step, stride);
      const auto take = (v > best) | (v != v);
      best = vec::select(take, v, best);
      place = vec::select(take, here, place);
      here = here + I(static_cast<P>(step));
    }
  }
  if constexpr (std::is_same_v<T, R>) {
    best.store(y + o);
  } else {
    for (int i = 0; i < 4; ++i) {
      y[o + i] = static_cast<T>(best[i]);
    }
  }
  vec::convert<int64_t>(place).store(indices + o);
}

template <class T>
void max_window(const T* x, const PoolWindows& w, int64_t d, int64_t h, int64_t o, T* y, int64_t* indices) {
  const PoolDim& columns = w.dim[2];
  Core<T> best = lowest<Core<T>>();
  int64_t place = 0;
  bool first = true;
  for_rows(w, d, h, [&](int64_t offset) {
    for (int64_t i = columns.begin[o]; i < columns.end[o]; i += columns.step) {
      const Core<T> v(x[offset + i]);
      const bool take = (v > best) | is_nan(v);
      best = take ? v : best;
      place = take || first ? offset + i : place;
      first = false;
    }
  });
  y[o] = static_cast<T>(best);
  indices[o] = place;
}

/// Elements of a window come in order, so that of equal ones the first is kept, and of NaNs the last.
template <class T, int Stride, int Kernel>
void max_narrow_plane(const T* x, T* y, int64_t* indices, const PoolWindows& w) {
  const PoolDim& columns = w.dim[2];
  RowOffsets rows;
  for_result_rows(w, [&](int64_t d, int64_t h, int64_t at) {
    rows.clear();
    for_rows(w, d, h, [&](int64_t offset) { rows.push_back(offset); });
    int64_t o = 0;
    while (o < columns.out) {
      if constexpr (kIsReal<T>) {
        // The last four may be computed again.
        const int64_t four = std::min(o, columns.regular_end - 4);
        if (o < columns.regular_end && four >= columns.regular_begin) {
          max_four_windows<T, Stride, Kernel>(x, columns, rows, four, y + at, indices + at);
          o = four + 4;
          continue;
        }
      }
      max_window(x, w, d, h, o, y + at, indices + at);
      ++o;
    }
  });
}

/// The kernel for such windows; those that most nets have are compiled by themselves.
template <class T>
auto narrow_plane_kernel(const PoolDim& columns) {
  const bool is_dense = columns.step == 1;
  return is_dense && columns.stride == 2 && columns.kernel == 2 ? max_narrow_plane<T, 2, 2>
      : is_dense && columns.stride == 2 && columns.kernel == 3  ? max_narrow_plane<T, 2, 3>
      : columns.stride == 1                                     ? max_narrow_plane<T, 1, 0>
                                                                : max_narrow_plane<T, 0, 0>;
}

} // namespace CPU_CAPABILITY
} // namespace at::native
