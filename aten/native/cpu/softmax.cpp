// softmax and log_softmax, forward and backward, over any dimension of contiguous data.

#include <aten/Parallel.h>
#include <aten/core/TensorBase.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/row_lanes.h>
#include <aten/native/cpu/softmax_exp.h>
#include <aten/native/vec/math.h>
#include <c10/core/WrapDimMinimal.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

using vec::exp;
using vec::log;
using vec::max;
using vec::select;

/// A contiguous tensor as outer x size x inner, the middle one being the softmax dimension.
struct DimSplit {
  int64_t outer = 1, size = 1, inner = 1;

  DimSplit(const TensorBase& t, int64_t dim) {
    if (t.dim() == 0) return;
    dim = c10::maybe_wrap_dim(dim, t.dim());
    for (int64_t d = 0; d < t.dim(); ++d) (d < dim ? outer : d == dim ? size : inner) *= t.size(d);
  }
};

/// Elements worth a thread of their own.
constexpr int64_t kGrain = 8192;

template <class F>
void parallel_rows(int64_t rows, int64_t row_size, const F& f) {
  at::parallel_for(0, rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, row_size)), f);
}

// ---- the softmax dimension is the last one: one row at a time ------------------------------------------------------

template <class T>
typename Lanes<T>::R row_max(const T* x, int64_t n) {
  using V = typename Lanes<T>::V;
  using R = typename Lanes<T>::R;
  constexpr int64_t kSize = V::size(), kChains = 4; // which need not wait for each other
  constexpr R kLowest = -std::numeric_limits<R>::infinity();
  V tops[kChains] = {V(kLowest), V(kLowest), V(kLowest), V(kLowest)};
  int64_t i = 0;
  for (; i + kChains * kSize <= n; i += kChains * kSize) {
    for (int64_t chain = 0; chain < kChains; ++chain) {
      tops[chain] = max(tops[chain], Lanes<T>::load(x + i + chain * kSize));
    }
  }
  V top = max(max(tops[0], tops[1]), max(tops[2], tops[3]));
  for_lanes<T>(n - i, [&](int64_t at, auto run) { top = max(top, keep_run(load_run(x + i + at, run), kLowest, run)); });
  return vec::reduce_max(top);
}

template <bool Log, class T>
void softmax_row(const T* x, T* y, int64_t n) {
  using V = typename Lanes<T>::V;
  using R = typename Lanes<T>::R;
  const R top = row_max(x, n);
  V sums(R(0));
  // With the result in the computing type the exponentials are kept there and only scaled afterwards.
  constexpr bool kKeep = !Log && std::is_same_v<T, R>;
  for_lanes<T>(n, [&](int64_t i, auto run) {
    __builtin_prefetch(x + n + i); // the next row, while there is time
    const V e = exp_or_zero(load_run(x + i, run) - V(top));
    if constexpr (kKeep) store_run<T>(e, y + i, run);
    sums += keep_run(e, R(0), run);
  });
  const R sum = vec::reduce_add(sums);
  if constexpr (Log) {
    const V shift(top), log_sum(std::log(sum));
    for_lanes<T>(n, [&](int64_t i, auto run) { store_run<T>(load_run(x + i, run) - shift - log_sum, y + i, run); });
  } else {
    const V scale(R(1) / sum);
    for_lanes<T>(n, [&](int64_t i, auto run) {
      V e;
      if constexpr (kKeep) e = load_run(y + i, run);
      else e = exp_or_zero(load_run(x + i, run) - V(top));
      store_run<T>(e * scale, y + i, run);
    });
  }
}

template <bool Log, class T>
void softmax_backward_row(const T* grad, const T* y, T* dx, int64_t n) {
  using V = typename Lanes<T>::V;
  using R = typename Lanes<T>::R;
  V sums(R(0));
  for_lanes<T>(n, [&](int64_t i, auto run) {
    const V g = load_run(grad + i, run);
    // Loads of partial runs fill up with zeros, which add nothing.
    if constexpr (Log) sums += g;
    else sums += g * load_run(y + i, run);
  });
  const V sum(vec::reduce_add(sums));
  for_lanes<T>(n, [&](int64_t i, auto run) {
    const V g = load_run(grad + i, run), out = load_run(y + i, run);
    if constexpr (Log) store_run<T>(g - exp_or_zero(out) * sum, dx + i, run);
    else store_run<T>((g - sum) * out, dx + i, run);
  });
}

// ---- another dimension: blocks of adjacent columns -----------------------------------------------------------------

/// The most columns taken together, and the most rows of a block that is gone over while it is in the second-level cache.
constexpr int64_t kMostColumns = 1024, kBlockRows = 256;
/// Rows of fewer columns are taken several at a time.
constexpr int64_t kNarrow = 64;

/// Columns taken together: of tall tensors as many as leave each thread a block, since longer runs are read faster; else so many
/// that a block stays in the cache. Nothing computed depends on it.
template <class T>
int64_t block_columns(const DimSplit& s) {
  // Not fewer than kNarrow: whether Rows takes several rows at a time must not depend on the number of threads.
  constexpr int64_t kCacheBytes = 512 * 1024, kLeast = std::max<int64_t>(kNarrow, 256 / sizeof(T));
  const auto whole = [kLeast](int64_t columns) { return std::max<int64_t>(kLeast, columns / kLeast * kLeast); };
  const int64_t wanted = s.size > kBlockRows
      ? whole(s.inner * s.outer / at::get_num_threads() + kLeast - 1)
      : whole(kCacheBytes / (s.size * int64_t(sizeof(T))));
  return std::min<int64_t>({wanted, s.inner, kMostColumns});
}

template <class T, class F>
void for_blocks(const DimSplit& s, const F& f) {
  const int64_t width = block_columns<T>(s), blocks = (s.inner + width - 1) / width;
  parallel_rows(s.outer * blocks, width * s.size, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t column = b % blocks * width;
      f(b / blocks * s.size * s.inner + column, std::min(width, s.inner - column));
    }
  });
}

/// Rows of a block of columns. Narrow ones that lie side by side are taken several at a time, so that they fill vectors: lanes a
/// `period` apart belong to one column.
struct Rows {
  int64_t count, width, last_width, stride, period;

  Rows(const DimSplit& s, int64_t columns) : count(s.size), width(columns), last_width(columns), stride(s.inner), period(columns) {
    constexpr int64_t kWide = 256;
    if (columns == s.inner && columns < kNarrow) {
      width = stride = std::min(kWide / columns, s.size) * columns;
      count = (s.size * columns + width - 1) / width;
      last_width = s.size * columns - (count - 1) * width;
    }
  }

  int64_t width_of(int64_t row) const { return row + 1 == count ? last_width : width; }

  /// Gives all lanes of a column what f makes of them.
  template <class R, class F>
  void join(R* lanes, const F& f) const {
    for (int64_t j = 0; j < period && period < width; ++j) {
      R joined = lanes[j];
      for (int64_t i = j + period; i < width; i += period) joined = f(joined, lanes[i]);
      for (int64_t i = j; i < width; i += period) lanes[i] = joined;
    }
  }
};

/// Tall columns are read twice: once for their maxima and sums, some rows at a time (a sum so far is scaled when its maximum
/// rises), and once for the results. With Keep they are in the cache, and the result keeps their exponentials.
template <bool Log, bool Keep, class T>
void softmax_columns(const T* x, T* y, const Rows& rows) {
  using V = typename Lanes<T>::V;
  using R = typename Lanes<T>::R;
  constexpr int64_t kTallRows = 16;
  const int64_t together = rows.count > kBlockRows ? kTallRows : rows.count;
  const bool one_block = together == rows.count;
  R top[kMostColumns], old_top[kMostColumns], shift[kMostColumns], sum[kMostColumns], part[kMostColumns];
  std::fill(top, top + rows.width, -std::numeric_limits<R>::infinity());
  std::fill(sum, sum + rows.width, R(0));
  for (int64_t first = 0; first < rows.count; first += together) {
    const int64_t end = std::min(rows.count, first + together);
    std::copy(top, top + rows.width, old_top);
    for (int64_t d = first; d < end; ++d) {
      const T* row = x + d * rows.stride;
      for_lanes<T>(rows.width_of(d), [&](int64_t i, auto run) {
        store_run<R>(max(load_run<R>(top + i, run), load_run(row + i, run)), top + i, run);
      });
    }
    rows.join(top, [](R a, R b) { return a > b || a != a ? a : b; });
    for_lanes<R>(rows.width, [&](int64_t i, auto run) {
      // Where there was nothing but -inf so far, more may come: exp(-inf) is 0 then, not NaN.
      const V now = load_run(top + i, run);
      store_run<R>(select(now == V(-std::numeric_limits<R>::infinity()), V(R(0)), now), shift + i, run);
    });
    R* sums = one_block ? sum : part;
    std::fill(part, part + (one_block ? 0 : rows.width), R(0));
    for (int64_t d = first; d < end; ++d) {
      const T* row = x + d * rows.stride;
      for_lanes<T>(rows.width_of(d), [&](int64_t i, auto run) {
        if constexpr (!Keep) __builtin_prefetch(row + together * rows.stride + i); // of the rows that come next
        const V e = exp_or_zero(load_run(row + i, run) - load_run<R>(shift + i, run));
        if constexpr (Keep) store_run<T>(e, y + d * rows.stride + i, run);
        store_run<R>(load_run<R>(sums + i, run) + e, sums + i, run);
      });
    }
    if (one_block) break;
    for_lanes<R>(rows.width, [&](int64_t i, auto run) {
      const V before = load_run(old_top + i, run), now = load_run(top + i, run);
      // Infinite maxima differ by NaN, also from themselves.
      const V scale = select(before == now, V(R(1)), exp(before - now));
      store_run<R>(load_run(sum + i, run) * scale + load_run(part + i, run), sum + i, run);
    });
  }
  rows.join(sum, [](R a, R b) { return a + b; });
  for_lanes<R>(rows.width, [&](int64_t i, auto run) {
    const V total = load_run(sum + i, run);
    store_run<R>(Log ? log(total) : V(R(1)) / total, sum + i, run);
  });
  for (int64_t d = 0; d < rows.count; ++d) {
    const T* row = x + d * rows.stride;
    T* out = y + d * rows.stride;
    for_lanes<T>(rows.width_of(d), [&](int64_t i, auto run) {
      const V last = load_run<R>(sum + i, run);
      if constexpr (Keep) {
        store_run<T>(load_run(out + i, run) * last, out + i, run);
      } else {
        const V shifted = load_run(row + i, run) - load_run<R>(shift + i, run);
        store_run<T>(Log ? shifted - last : exp_or_zero(shifted) * last, out + i, run);
      }
    });
  }
}

template <bool Log, class T>
void softmax_columns(const T* x, T* y, const DimSplit& s, int64_t width) {
  const Rows rows(s, width);
  if constexpr (!Log && std::is_same_v<T, typename Lanes<T>::R>) {
    if (rows.count <= kBlockRows) return softmax_columns<Log, true>(x, y, rows);
  }
  softmax_columns<Log, false>(x, y, rows);
}

template <bool Log, class T>
void softmax_backward_columns(const T* grad, const T* y, T* dx, const DimSplit& s, int64_t width) {
  using V = typename Lanes<T>::V;
  using R = typename Lanes<T>::R;
  const Rows rows(s, width);
  R sum[kMostColumns];
  std::fill(sum, sum + rows.width, R(0));
  for (int64_t d = 0; d < rows.count; ++d) {
    for_lanes<T>(rows.width_of(d), [&](int64_t i, auto run) {
      const int64_t at = d * rows.stride + i;
      const V g = load_run(grad + at, run);
      V term = g;
      if constexpr (!Log) term = g * load_run(y + at, run);
      store_run<R>(load_run<R>(sum + i, run) + term, sum + i, run);
    });
  }
  rows.join(sum, [](R a, R b) { return a + b; });
  for (int64_t d = 0; d < rows.count; ++d) {
    for_lanes<T>(rows.width_of(d), [&](int64_t i, auto run) {
      const int64_t at = d * rows.stride + i;
      const V g = load_run(grad + at, run), out = load_run(y + at, run), total = load_run<R>(sum + i, run);
      if constexpr (Log) store_run<T>(g - exp_or_zero(out) * total, dx + at, run);
      else store_run<T>((g - total) * out, dx + at, run);
    });
  }
}

// ---- drivers -------------------------------------------------------------------------------------------------------

template <bool Log>
void softmax_forward(const char* op, const TensorBase& self, int64_t dim, const TensorBase& out) {
  // Over nothing every dtype will do.
  if (self.numel() == 0) return;
  dispatch(op, self.scalar_type(), kFloating, [&]<class T> {
    const TensorBase input = self.contiguous();
    const T* x = input.const_data_ptr<T>();
    T* y = out.mutable_data_ptr<T>();
    const DimSplit s(self, dim);
    if (s.inner == 1) {
      parallel_rows(s.outer, s.size, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) softmax_row<Log>(x + r * s.size, y + r * s.size, s.size);
      });
    } else {
      for_blocks<T>(s, [&](int64_t at, int64_t width) { softmax_columns<Log>(x + at, y + at, s, width); });
    }
  });
}

template <bool Log>
void softmax_backward(const char* op, const TensorBase& grad_output, const TensorBase& output, int64_t dim, const TensorBase& grad_input) {
  if (output.numel() == 0) return;
  dispatch(op, output.scalar_type(), kFloating, [&]<class T> {
    const TensorBase grad = grad_output.contiguous(), result = output.contiguous();
    const T* g = grad.const_data_ptr<T>();
    const T* y = result.const_data_ptr<T>();
    T* dx = grad_input.mutable_data_ptr<T>();
    const DimSplit s(output, dim);
    if (s.inner == 1) {
      parallel_rows(s.outer, s.size, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          softmax_backward_row<Log>(g + r * s.size, y + r * s.size, dx + r * s.size, s.size);
        }
      });
    } else {
      for_blocks<T>(s, [&](int64_t at, int64_t width) { softmax_backward_columns<Log>(g + at, y + at, dx + at, s, width); });
    }
  });
}

} // namespace

void softmax_kernel(const TensorBase& self, int64_t dim, bool, const TensorBase& out) {
  softmax_forward<false>("softmax_lastdim_kernel_impl", self, dim, out);
}

void log_softmax_kernel(const TensorBase& self, int64_t dim, bool, const TensorBase& out) {
  softmax_forward<true>("log_softmax_lastdim_kernel_impl", self, dim, out);
}

void softmax_backward_kernel(const TensorBase& grad_output, const TensorBase& output, int64_t dim, c10::ScalarType, const TensorBase& grad_input) {
  softmax_backward<false>("softmax_backward", grad_output, output, dim, grad_input);
}

void log_softmax_backward_kernel(const TensorBase& grad_output, const TensorBase& output, int64_t dim, c10::ScalarType, const TensorBase& grad_input) {
  softmax_backward<true>("log_softmax_backward", grad_output, output, dim, grad_input);
}

} // namespace CPU_CAPABILITY
} // namespace at::native
