// softmax and log_softmax, forward and backward, over any dimension of contiguous data.

#include <aten/core/TensorBase.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/row_lanes.h>
#include <aten/native/cpu/softmax_exp.h>
#include <aten/native/support/row_kernel.h>
#include <aten/native/vec/math.h>
#include <aten/parallel/Parallel.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/macros/Macros.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

using vec::exp;
using vec::log;
using vec::max;
using vec::min;
using vec::select;

/// A contiguous tensor as outer x size x inner, the middle one being the softmax dimension.
struct DimSplit {
  int64_t outer = 1, size = 1, inner = 1;

  DimSplit(const TensorBase& t, int64_t dim) {
    if (t.dim() == 0) {
      return;
    }
    dim = c10::maybe_wrap_dim(dim, t.dim());
    for (int64_t d = 0; d < t.dim(); ++d) {
      (d < dim ? outer : d == dim ? size : inner) *= t.size(d);
    }
  }

  /// More rows than are gone over several times while they are in the second-level cache.
  bool tall() const {
    return size > 256;
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
C10_NOINLINE void softmax_row(const T* x, T* y, int64_t n) {
  using V = typename Lanes<T>::V;
  using R = typename Lanes<T>::R;
  const R top = row_max(x, n);
  V sums(R(0));
  // With the result in the computing type the exponentials are kept there and only scaled afterwards.
  constexpr bool kKeep = !Log && std::is_same_v<T, R>;
  for_lanes<T>(n, [&](int64_t i, auto run) {
    __builtin_prefetch(x + n + i); // the next row, while there is time
    const V e = exp_or_zero(load_run(x + i, run) - V(top));
    if constexpr (kKeep) {
      store_run<T>(e, y + i, run);
    }
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
      if constexpr (kKeep) {
        e = load_run(y + i, run);
      } else {
        e = exp_or_zero(load_run(x + i, run) - V(top));
      }
      store_run<T>(e * scale, y + i, run);
    });
  }
}

/// exp(x) for any x: what a program says is a result of log_softmax need not be one.
template <class T, int N>
VEC_INLINE vec::Vec<T, N> exp_of_result(vec::Vec<T, N> x) {
  // NaN is kept, which min takes from its second operand.
  return exp_or_zero(min(vec::Vec<T, N>(T(sizeof(T) == 4 ? 89 : 710)), x));
}

template <bool Log, class T>
C10_NOINLINE void softmax_backward_row(const T* grad, const T* y, T* dx, int64_t n) {
  using V = typename Lanes<T>::V;
  using R = typename Lanes<T>::R;
  V sums(R(0));
  for_lanes<T>(n, [&](int64_t i, auto run) {
    const V g = load_run(grad + i, run);
    // Loads of partial runs fill up with zeros, which add nothing.
    if constexpr (Log) {
      sums += g;
    } else {
      sums += g * load_run(y + i, run);
    }
  });
  const V sum(vec::reduce_add(sums));
  for_lanes<T>(n, [&](int64_t i, auto run) {
    const V g = load_run(grad + i, run), out = load_run(y + i, run);
    if constexpr (Log) {
      store_run<T>(g - exp_of_result(out) * sum, dx + i, run);
    } else {
      store_run<T>((g - sum) * out, dx + i, run);
    }
  });
}

// ---- another dimension: blocks of adjacent columns -----------------------------------------------------------------

/// The most columns taken together.
constexpr int64_t kMostColumns = 1024;
/// Rows of fewer columns are taken several at a time.
constexpr int64_t kNarrow = 64;

/// Columns taken together: so many that a block stays in the cache.
template <class T>
int64_t block_columns(const DimSplit& s) {
  constexpr int64_t kCacheBytes = 512 * 1024, kLeast = std::max<int64_t>(kNarrow, 256 / sizeof(T));
  const int64_t wanted = kCacheBytes / (s.size * int64_t(sizeof(T)));
  return std::min<int64_t>({std::max<int64_t>(kLeast, wanted / kLeast * kLeast), s.inner, kMostColumns});
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

/// Rows of a block of columns. Narrow ones that lie side by side are taken several at a time, so that they fill
/// vectors: lanes a `period` apart belong to one column.
struct Rows {
  int64_t count, width, last_width, stride, period;

  Rows(const DimSplit& s, int64_t columns)
      : count(s.size), width(columns), last_width(columns), stride(s.inner), period(columns) {
    constexpr int64_t kWide = 256;
    if (columns == s.inner && columns < kNarrow) {
      width = stride = std::min(kWide / columns, s.size) * columns;
      count = (s.size * columns + width - 1) / width;
      last_width = s.size * columns - (count - 1) * width;
    }
  }

  int64_t width_of(int64_t row) const {
    return row + 1 == count ? last_width : width;
  }

  /// Gives all lanes of a column what f makes of them.
  template <class R, class F>
  void join(R* lanes, const F& f) const {
    for (int64_t j = 0; j < period && period < width; ++j) {
      R joined = lanes[j];
      for (int64_t i = j + period; i < width; i += period) {
        joined = f(joined, lanes[i]);
      }
      for (int64_t i = j; i < width; i += period) {
        lanes[i] = joined;
      }
    }
  }
};

/// What results are scaled by or, of Log, shifted by.
template <bool Log, class R>
void finish_sums(R* sum, int64_t width) {
  using V = vec::Vec<R>;
  for_lanes<R>(width, [&](int64_t i, auto run) {
    const V total = load_run(sum + i, run);
    store_run<R>(Log ? log(total) : V(R(1)) / total, sum + i, run);
  });
}

/// The results of rows [first, last) from the maxima and the finished sums of their columns.
template <bool Log, class T>
C10_NOINLINE void softmax_results(
    const T* x,
    T* y,
    const Rows& rows,
    int64_t first,
    int64_t last,
    const typename Lanes<T>::R* top,
    const typename Lanes<T>::R* sum) {
  using V = typename Lanes<T>::V;
  using R = typename Lanes<T>::R;
  for (int64_t d = first; d < last; ++d) {
    const T* row = x + d * rows.stride;
    T* out = y + d * rows.stride;
    for_lanes<T>(rows.width_of(d), [&](int64_t i, auto run) {
      const V shifted = load_run(row + i, run) - load_run<R>(top + i, run), last_step = load_run<R>(sum + i, run);
      store_run<T>(Log ? shifted - last_step : exp_or_zero(shifted) * last_step, out + i, run);
    });
  }
}

/// Columns that are not tall: a block of them stays in the cache. With Keep the result holds their exponentials
/// meanwhile.
template <bool Log, bool Keep, class T>
void softmax_columns(const T* x, T* y, const Rows& rows) {
  using V = typename Lanes<T>::V;
  using R = typename Lanes<T>::R;
  R top[kMostColumns], sum[kMostColumns];
  std::fill(top, top + rows.width, -std::numeric_limits<R>::infinity());
  std::fill(sum, sum + rows.width, R(0));
  for (int64_t d = 0; d < rows.count; ++d) {
    const T* row = x + d * rows.stride;
    for_lanes<T>(rows.width_of(d), [&](int64_t i, auto run) {
      store_run<R>(max(load_run<R>(top + i, run), load_run(row + i, run)), top + i, run);
    });
  }
  rows.join(top, [](R a, R b) { return a > b || a != a ? a : b; });
  for (int64_t d = 0; d < rows.count; ++d) {
    const T* row = x + d * rows.stride;
    for_lanes<T>(rows.width_of(d), [&](int64_t i, auto run) {
      const V e = exp_or_zero(load_run(row + i, run) - load_run<R>(top + i, run));
      if constexpr (Keep) {
        store_run<T>(e, y + d * rows.stride + i, run);
      }
      store_run<R>(load_run<R>(sum + i, run) + e, sum + i, run);
    });
  }
  rows.join(sum, [](R a, R b) { return a + b; });
  finish_sums<Log>(sum, rows.width);
  if constexpr (Keep) {
    for (int64_t d = 0; d < rows.count; ++d) {
      T* out = y + d * rows.stride;
      for_lanes<T>(rows.width_of(d), [&](int64_t i, auto run) {
        store_run<T>(load_run(out + i, run) * load_run<R>(sum + i, run), out + i, run);
      });
    }
  } else {
    softmax_results<Log>(x, y, rows, 0, rows.count, top, sum);
  }
}

template <bool Log, class T>
void softmax_columns(const T* x, T* y, const DimSplit& s, int64_t width) {
  constexpr bool kKeep = !Log && std::is_same_v<T, typename Lanes<T>::R>;
  softmax_columns<Log, kKeep>(x, y, Rows(s, width));
}

/// Rows [first, last) of tall columns: their maxima and the sums of their exponentials, some rows at a time.
/// Exponentials are taken from a shift, which is raised, and the sum so far scaled, when an element is far above it.
template <class T>
C10_NOINLINE void add_to_sums(
    const T* x, const Rows& rows, int64_t first, int64_t last, typename Lanes<T>::R* top, typename Lanes<T>::R* sum) {
  using V = typename Lanes<T>::V;
  using R = typename Lanes<T>::R;
  constexpr R kLowest = -std::numeric_limits<R>::infinity();
  const V far(R(40)), lowest(kLowest);
  R shift[kMostColumns];
  std::fill(shift, shift + rows.width, kLowest);
  // Where there was nothing but -inf so far, more may come: exp(-inf) is 0 then, not NaN.
  const auto finite = [&](V v) { return select(v == lowest, V(R(0)), v); };
  // Infinite shifts differ by NaN from themselves.
  const auto scale = [&](V v, V before, V now) { return select(before == now, v, v * exp(before - now)); };
  const auto add = [&](int64_t d, auto together, int64_t width) {
    const T* row = x + d * rows.stride;
    for_lanes<T>(width, [&](int64_t i, auto run) {
      V now = load_run<R>(top + i, run);
      for (int r = 0; r < together; ++r) {
        now = max(now, load_run(row + r * rows.stride + i, run));
      }
      store_run<R>(now, top + i, run);
      V from = load_run<R>(shift + i, run), all = load_run<R>(sum + i, run);
      const auto rises = from + far < now;
      if (__builtin_expect(vec::any(rises), 0)) {
        const V raised = select(rises, now, from);
        all = scale(all, from, raised);
        from = raised;
        store_run<R>(from, shift + i, run);
      }
      from = finite(from);
      for (int r = 0; r < together; ++r) {
        all += exp_for_sum(load_run(row + r * rows.stride + i, run) - from);
      }
      store_run<R>(all, sum + i, run);
    });
  };
  constexpr int kTogether = 8;
  for (; first + kTogether <= last && rows.width_of(first + kTogether - 1) == rows.width; first += kTogether) {
    add(first, std::integral_constant<int, kTogether>{}, rows.width);
  }
  for (; first < last; ++first) {
    add(first, std::integral_constant<int, 1>{}, rows.width_of(first));
  }
  for_lanes<R>(rows.width, [&](int64_t i, auto run) {
    store_run<R>(
        scale(load_run<R>(sum + i, run), load_run<R>(shift + i, run), load_run<R>(top + i, run)), sum + i, run);
  });
}

/// Combines the maxima and sums that `chunks` parts of tall columns have, `step` numbers apart, in those of the first.
template <bool Log, class R>
void join_sums(const Rows& rows, R* numbers, int64_t chunks, int64_t step) {
  using V = vec::Vec<R>;
  R joined[kMostColumns];
  std::copy(numbers, numbers + rows.width, joined);
  for (int64_t c = 1; c < chunks; ++c) {
    for (int64_t i = 0; i < rows.width; ++i) {
      joined[i] = std::max(joined[i], numbers[c * step + i]);
    }
  }
  rows.join(joined, [](R a, R b) { return a > b ? a : b; });
  R* const total = numbers + rows.width;
  for (int64_t c = 0; c < chunks; ++c) {
    const R *top = numbers + c * step, *sum = top + rows.width;
    for_lanes<R>(rows.width, [&](int64_t i, auto run) {
      const V before = load_run(top + i, run), now = load_run<R>(joined + i, run);
      // Infinite maxima differ by NaN, also from themselves.
      const V scaled = load_run(sum + i, run) * select(before == now, V(R(1)), exp(before - now));
      store_run<R>(c == 0 ? scaled : load_run<R>(total + i, run) + scaled, total + i, run);
    });
  }
  rows.join(total, [](R a, R b) { return a + b; });
  // What exp_for_sum gave for nothing but -inf.
  constexpr R kLowest = -std::numeric_limits<R>::infinity();
  for (int64_t i = 0; i < rows.width; ++i) {
    total[i] = joined[i] == kLowest ? R(0) : total[i];
  }
  finish_sums<Log>(total, rows.width);
  std::copy(joined, joined + rows.width, numbers);
}

/// Tall columns, read twice: once in chunks of rows by part(rows, offset, begin, end, numbers), which gives `kNumbers`
/// numbers for each lane; then, when join(rows, numbers, chunks, step) has made those of the first chunk those of all,
/// by finish(rows, offset, begin, end, numbers).
template <int kNumbers, class R, class Part, class Join, class Finish>
void for_chunks(const DimSplit& s, const Part& part, const Join& join, const Finish& finish) {
  // How rows are cut must not depend on the number of threads: sums are summed by chunks.
  constexpr int64_t kLeastRows = 128, kMostChunks = 32;
  const int64_t width = std::min(s.inner, kMostColumns), blocks = (s.inner + width - 1) / width;
  const Rows whole(s, width);
  const int64_t chunk = std::max(kLeastRows, (whole.count + kMostChunks - 1) / kMostChunks),
                chunks = (whole.count + chunk - 1) / chunk;
  const int64_t step = kNumbers * whole.width, block_step = chunks * step;
  const auto numbers = std::make_unique_for_overwrite<R[]>(s.outer * blocks * block_step);
  const auto visit = [&](const auto& f, int64_t chunk_step) {
    parallel_rows(s.outer * blocks * chunks, chunk * whole.width, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t block = task / chunks, c = task % chunks, column = block % blocks * width;
        f(Rows(s, std::min(width, s.inner - column)), block / blocks * s.size * s.inner + column, c * chunk,
          std::min(whole.count, (c + 1) * chunk), numbers.get() + block * block_step + c * chunk_step);
      }
    });
  };
  visit(part, step);
  for (int64_t block = 0; block < s.outer * blocks; ++block) {
    join(Rows(s, std::min(width, s.inner - block % blocks * width)), numbers.get() + block * block_step, chunks, step);
  }
  visit(finish, 0);
}

template <bool Log, class T>
void softmax_tall(const T* x, T* y, const DimSplit& s) {
  using R = typename Lanes<T>::R;
  for_chunks<2, R>(
      s,
      [x](const Rows& rows, int64_t at, int64_t begin, int64_t end, R* numbers) {
        std::fill(numbers, numbers + rows.width, -std::numeric_limits<R>::infinity());
        std::fill(numbers + rows.width, numbers + 2 * rows.width, R(0));
        add_to_sums(x + at, rows, begin, end, numbers, numbers + rows.width);
      },
      join_sums<Log, R>,
      [x, y](const Rows& rows, int64_t at, int64_t begin, int64_t end, const R* numbers) {
        softmax_results<Log>(x + at, y + at, rows, begin, end, numbers, numbers + rows.width);
      });
}

/// Rows [first, last): the sums of the gradients, times the results but for Log.
template <bool Log, class T>
void add_to_gradient_sums(
    const T* grad, const T* y, const Rows& rows, int64_t first, int64_t last, typename Lanes<T>::R* sum) {
  using V = typename Lanes<T>::V;
  using R = typename Lanes<T>::R;
  for (int64_t d = first; d < last; ++d) {
    for_lanes<T>(rows.width_of(d), [&](int64_t i, auto run) {
      const int64_t at = d * rows.stride + i;
      const V g = load_run(grad + at, run);
      V term = g;
      if constexpr (!Log) {
        term = g * load_run(y + at, run);
      }
      store_run<R>(load_run<R>(sum + i, run) + term, sum + i, run);
    });
  }
}

template <bool Log, class T>
C10_NOINLINE void softmax_gradients(
    const T* grad, const T* y, T* dx, const Rows& rows, int64_t first, int64_t last, const typename Lanes<T>::R* sum) {
  using V = typename Lanes<T>::V;
  using R = typename Lanes<T>::R;
  for (int64_t d = first; d < last; ++d) {
    for_lanes<T>(rows.width_of(d), [&](int64_t i, auto run) {
      const int64_t at = d * rows.stride + i;
      const V g = load_run(grad + at, run), out = load_run(y + at, run), total = load_run<R>(sum + i, run);
      if constexpr (Log) {
        store_run<T>(g - exp_of_result(out) * total, dx + at, run);
      } else {
        store_run<T>((g - total) * out, dx + at, run);
      }
    });
  }
}

template <bool Log, class T>
void softmax_backward_columns(const T* grad, const T* y, T* dx, const DimSplit& s, int64_t width) {
  using R = typename Lanes<T>::R;
  const Rows rows(s, width);
  R sum[kMostColumns];
  std::fill(sum, sum + rows.width, R(0));
  add_to_gradient_sums<Log>(grad, y, rows, 0, rows.count, sum);
  rows.join(sum, [](R a, R b) { return a + b; });
  softmax_gradients<Log>(grad, y, dx, rows, 0, rows.count, sum);
}

template <bool Log, class T>
void softmax_backward_tall(const T* grad, const T* y, T* dx, const DimSplit& s) {
  using R = typename Lanes<T>::R;
  for_chunks<1, R>(
      s,
      [grad, y](const Rows& rows, int64_t at, int64_t begin, int64_t end, R* sum) {
        std::fill(sum, sum + rows.width, R(0));
        add_to_gradient_sums<Log>(grad + at, y + at, rows, begin, end, sum);
      },
      [](const Rows& rows, R* sums, int64_t chunks, int64_t step) {
        for (int64_t c = 1; c < chunks; ++c) {
          for (int64_t i = 0; i < rows.width; ++i) {
            sums[i] += sums[c * step + i];
          }
        }
        rows.join(sums, [](R a, R b) { return a + b; });
      },
      [=](const Rows& rows, int64_t at, int64_t begin, int64_t end, const R* sum) {
        softmax_gradients<Log>(grad + at, y + at, dx + at, rows, begin, end, sum);
      });
}

// ---- drivers -------------------------------------------------------------------------------------------------------

template <bool Log>
void softmax_forward(const char* op, const TensorBase& self, int64_t dim, const TensorBase& out) {
  // Over nothing every dtype will do.
  if (self.numel() == 0) {
    return;
  }
  dispatch(op, self.scalar_type(), kFloating, [&]<class T> {
    const TensorBase input = self.contiguous();
    const T* x = input.const_data_ptr<T>();
    T* y = out.mutable_data_ptr<T>();
    const DimSplit s(self, dim);
    if (s.inner == 1) {
      parallel_rows(s.outer, s.size, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          softmax_row<Log>(x + r * s.size, y + r * s.size, s.size);
        }
      });
    } else if (s.tall()) {
      softmax_tall<Log>(x, y, s);
    } else {
      for_blocks<T>(s, [&](int64_t at, int64_t width) { softmax_columns<Log>(x + at, y + at, s, width); });
    }
  });
}

template <bool Log>
void softmax_backward(
    const char* op,
    const TensorBase& grad_output,
    const TensorBase& output,
    int64_t dim,
    const TensorBase& grad_input) {
  if (output.numel() == 0) {
    return;
  }
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
    } else if (s.tall()) {
      softmax_backward_tall<Log>(g, y, dx, s);
    } else {
      for_blocks<T>(
          s, [&](int64_t at, int64_t width) { softmax_backward_columns<Log>(g + at, y + at, dx + at, s, width); });
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

void softmax_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase& output,
    int64_t dim,
    c10::ScalarType,
    const TensorBase& grad_input) {
  softmax_backward<false>("softmax_backward", grad_output, output, dim, grad_input);
}

void log_softmax_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase& output,
    int64_t dim,
    c10::ScalarType,
    const TensorBase& grad_input) {
  softmax_backward<true>("log_softmax_backward", grad_output, output, dim, grad_input);
}

namespace {

template <bool Log, class T>
void softmax_rows(const RowBlock& block) {
  for (int64_t r = 0; r < block.rows; ++r) {
    const int64_t at = r * block.size;
    softmax_row<Log>(
        reinterpret_cast<const T*>(block.inputs[0]) + at, reinterpret_cast<T*>(block.outputs[0]) + at, block.size);
  }
}

template <bool Log, class T>
void softmax_backward_rows(const RowBlock& block) {
  for (int64_t r = 0; r < block.rows; ++r) {
    const int64_t at = r * block.size;
    softmax_backward_row<Log>(
        reinterpret_cast<const T*>(block.inputs[0]) + at, reinterpret_cast<const T*>(block.inputs[1]) + at,
        reinterpret_cast<T*>(block.outputs[0]) + at, block.size);
  }
}

} // namespace

RowKernel softmax_row_kernel(RowOperator op, c10::ScalarType dtype) {
  RowKernel kernel = nullptr;
  dispatch("softmax", dtype, kFloating, [&]<class T> {
    kernel = op == RowOperator::Softmax      ? softmax_rows<false, T>
        : op == RowOperator::LogSoftmax      ? softmax_rows<true, T>
        : op == RowOperator::SoftmaxBackward ? softmax_backward_rows<false, T>
                                             : softmax_backward_rows<true, T>;
  });
  return kernel;
}

} // namespace CPU_CAPABILITY
} // namespace at::native
