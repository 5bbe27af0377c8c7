// Mean of windows, which are summed first down the rows, adjacent in memory, then along them; in a channels-last
// layout, for all channels of a pixel at once.

#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/pool_rows.h>
#include <aten/native/pointwise/math.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

constexpr auto kAvgDtypes = kFloating | dtype_set<c10::ScalarType::Long>;

/// sum / count. Integers towards zero; the one quotient that 64 bits do not hold wraps.
template <class R>
R quotient(R sum, R count) {
  if constexpr (std::is_integral_v<R>) {
    return pointwise::integer_quotient(sum, count);
  } else {
    return sum / count;
  }
}

/// a * b, both positive. An integer that 64 bits do not hold is the largest: windows may reach far into the padding.
template <class R>
R times(R a, R b) {
  if constexpr (std::is_integral_v<R>) {
    R product = 0;
    return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<R>::max() : product;
  } else {
    return a * b;
  }
}

/// sum += x, or sum = x.
template <class T>
void add_run(const T* x, Core<T>* sum, int64_t n, bool first) {
  if constexpr (kIsReal<T>) {
    using R = Core<T>;
    for_lanes<T>(n, [&](int64_t i, auto run) {
      const auto v = load_run(x + i, run);
      store_run<R>(first ? v : load_run<R>(sum + i, run) + v, sum + i, run);
    });
  } else {
    for (int64_t i = 0; i < n; ++i) {
      sum[i] = first ? Core<T>(x[i]) : pointwise::add<Core<T>>(sum[i], x[i]);
    }
  }
}

/// What a window's sum is divided by.
struct Divisor {
  bool count_padding = false;
  std::optional<int64_t> fixed;

  int64_t of(const PoolWindows& w, int64_t d, int64_t h, int64_t o) const {
    if (fixed.has_value()) {
      return *fixed;
    }
    const int64_t at[3] = {d, h, o};
    int64_t count = 1;
    for (int i = 0; i < 3; ++i) {
      count = times(count, count_padding ? w.dim[i].extent[at[i]] : w.dim[i].end[at[i]] - w.dim[i].begin[at[i]]);
    }
    return count;
  }

  /// The factor of one dimension. It is 1 where a window holds nothing: its sum is zero.
  int64_t along(const PoolDim& dim, int64_t at) const {
    if (fixed.has_value() || dim.begin[at] >= dim.end[at]) {
      return 1;
    }
    return count_padding ? dim.extent[at] : dim.end[at] - dim.begin[at];
  }
};

bool is_empty(const PoolWindows& w, int64_t d, int64_t h) {
  return w.dim[0].begin[d] >= w.dim[0].end[d] || w.dim[1].begin[h] >= w.dim[1].end[h];
}

/// Sums along a row: out[o] = sum of column over window o. The stride is a constant where that lets the loop vectorise.
template <class R, int Stride>
void sum_regular(const R* column, const PoolDim& w, R* out) {
  const int64_t stride = Stride > 0 ? Stride : w.stride, begin = w.regular_begin, n = w.regular_end - begin;
  if (n <= 0) {
    return; // a window may be far larger than the row
  }
  const R* from = column + begin * stride - w.padding;
  R* to = out + begin;
  for (int64_t i = 0; i < n; ++i) {
    to[i] = from[i * stride];
  }
  for (int64_t k = 1; k < w.kernel; ++k) {
    const R* shifted = from + k * w.step;
    for (int64_t i = 0; i < n; ++i) {
      to[i] = pointwise::add(to[i], shifted[i * stride]);
    }
  }
}

template <class R>
void sum_windows(const R* column, const PoolDim& w, R* out) {
  for (int64_t o = 0; o < w.out; ++o) {
    if (o == w.regular_begin && w.regular_end > o) {
      o = w.regular_end;
    }
    if (o >= w.out) {
      break;
    }
    R sum = 0;
    for (int64_t i = w.begin[o]; i < w.end[o]; i += w.step) {
      sum = pointwise::add(sum, column[i]);
    }
    out[o] = sum;
  }
  if (w.stride == 1) {
    sum_regular<R, 1>(column, w, out);
  } else if (w.stride == 2) {
    sum_regular<R, 2>(column, w, out);
  } else {
    sum_regular<R, 0>(column, w, out);
  }
}

template <class T>
void avg_planes(const T* x, T* y, int64_t planes, const PoolWindows& w, const Divisor& divisor) {
  using R = Core<T>;
  for_planes(planes, w, [&](int64_t first, int64_t last) {
    const int64_t width = w.dim[2].out;
    std::vector<R> column(w.dim[2].in), row(width), widths(width);
    for (int64_t o = 0; o < width; ++o) {
      widths[o] = static_cast<R>(divisor.along(w.dim[2], o));
    }
    for (int64_t plane = first; plane < last; ++plane) {
      const T* in = x + plane * w.in_size();
      T* out = y + plane * w.out_size();
      for_result_rows(w, [&](int64_t d, int64_t h, int64_t at) {
        bool none = true;
        for_rows(w, d, h, [&](int64_t offset) {
          add_run(in + offset, column.data(), w.dim[2].in, none);
          none = false;
        });
        if (none) {
          std::fill(column.begin(), column.end(), R(0));
        }
        R* means = row.data();
        sum_windows(column.data(), w.dim[2], means);
        const R others =
            static_cast<R>(divisor.fixed.value_or(times(divisor.along(w.dim[0], d), divisor.along(w.dim[1], h))));
        const R* of_width = widths.data();
        for (int64_t o = 0; o < width; ++o) {
          means[o] = quotient(means[o], times(others, of_width[o]));
        }
        store_row<T>(means, out + at, width);
      });
    }
  });
}

template <class T>
void avg_channels_last(const T* x, T* y, const PoolLayout& layout, const PoolWindows& w, const Divisor& divisor) {
  using R = Core<T>;
  const int64_t channels = layout.channels;
  for_pixels(
      layout, w, [&](int64_t image, int64_t d, int64_t h, int64_t o, int64_t pixel, std::vector<int64_t>& pixels) {
        window_pixels(w, d, h, o, pixels);
        const R count = pixels.empty() ? R(1) : static_cast<R>(divisor.of(w, d, h, o));
        const T* in = x + image * w.in_size() * channels;
        T* out = y + pixel * channels;
        if constexpr (kIsReal<T>) {
          using V = typename Lanes<T>::V;
          for_lanes<T>(channels, [&](int64_t c, auto run) {
            V sum(R(0));
            for (const int64_t at : pixels) {
              sum += load_run(in + at * channels + c, run);
            }
            store_run<T>(sum / V(count), out + c, run);
          });
        } else {
          for (int64_t c = 0; c < channels; ++c) {
            R sum = 0;
            for (const int64_t at : pixels) {
              sum = pointwise::add<R>(sum, in[at * channels + c]);
            }
            out[c] = quotient(sum, count);
          }
        }
      });
}

void avg_forward(
    const char* op,
    const TensorBase& self,
    int64_t dims,
    const PoolWindows& w,
    const Divisor& divisor,
    const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  const PoolLayout layout(self, dims);
  const TensorBase x = self.contiguous(layout.format);
  const PoolResult y(out, layout.format, out.scalar_type());
  dispatch(op, self.scalar_type(), kAvgDtypes, [&]<class T> {
    if (layout.channels_last) {
      avg_channels_last(x.const_data_ptr<T>(), y.tensor().template mutable_data_ptr<T>(), layout, w, divisor);
    } else {
      avg_planes(x.const_data_ptr<T>(), y.tensor().template mutable_data_ptr<T>(), layout.planes(), w, divisor);
    }
  });
  y.finish();
}

/// dx += g spread over the windows of a plane, dx in the type of the sums.
template <class T, class R>
void spread_plane(const T* g, R* dx, const PoolWindows& w, const Divisor& divisor, std::vector<R>& row) {
  std::fill(dx, dx + w.in_size(), R(0));
  for_result_rows(w, [&](int64_t d, int64_t h, int64_t at) {
    if (is_empty(w, d, h)) {
      return;
    }
    std::fill(row.begin(), row.end(), R(0));
    for (int64_t o = 0; o < w.dim[2].out; ++o) {
      const R share = quotient(static_cast<R>(g[at + o]), static_cast<R>(divisor.of(w, d, h, o)));
      for (int64_t i = w.dim[2].begin[o]; i < w.dim[2].end[o]; i += w.dim[2].step) {
        row[i] = pointwise::add(row[i], share);
      }
    }
    for_rows(w, d, h, [&](int64_t offset) { add_run(row.data(), dx + offset, w.dim[2].in, false); });
  });
}

template <class T, class R>
void spread_channels_last(const T* g, R* dx, const PoolLayout& layout, const PoolWindows& w, const Divisor& divisor) {
  const int64_t channels = layout.channels;
  for_channel_parts(layout, [&](int64_t image, int64_t first, int64_t last) {
    R* to = dx + image * w.in_size() * channels;
    const T* from = g + image * w.out_size() * channels;
    for (int64_t i = 0; i < w.in_size(); ++i) {
      std::fill(to + i * channels + first, to + i * channels + last, R(0));
    }
    for_result_rows(w, [&](int64_t d, int64_t h, int64_t at) {
      for (int64_t o = 0; o < w.dim[2].out; ++o) {
        const R count = static_cast<R>(divisor.of(w, d, h, o));
        const T* share = from + (at + o) * channels;
        for_rows(w, d, h, [&](int64_t offset) {
          for (int64_t i = w.dim[2].begin[o]; i < w.dim[2].end[o]; i += w.dim[2].step) {
            R* pixel = to + (offset + i) * channels;
            for (int64_t c = first; c < last; ++c) {
              pixel[c] = pointwise::add<R>(pixel[c], quotient(static_cast<R>(share[c]), count));
            }
          }
        });
      }
    });
  });
}

void avg_backward(
    const char* op,
    const TensorBase& grad_output,
    const TensorBase& self,
    int64_t dims,
    const PoolWindows& w,
    const Divisor& divisor,
    const TensorBase& grad_input) {
  if (grad_input.numel() == 0) {
    return;
  }
  const PoolLayout layout(self, dims);
  const TensorBase grad = grad_output.contiguous(layout.format);
  dispatch(op, self.scalar_type(), kAvgDtypes, [&]<class T> {
    using R = Core<T>;
    const PoolResult result(grad_input, layout.format, c10::CppTypeToScalarType<R>::value);
    const T* g = grad.const_data_ptr<T>();
    R* dx = result.tensor().template mutable_data_ptr<R>();
    if (layout.channels_last) {
      spread_channels_last(g, dx, layout, w, divisor);
    } else {
      for_planes(layout.planes(), w, [&](int64_t first, int64_t last) {
        std::vector<R> row(w.dim[2].in);
        for (int64_t p = first; p < last; ++p) {
          spread_plane(g + p * w.out_size(), dx + p * w.in_size(), w, divisor, row);
        }
      });
    }
    result.finish();
  });
}

} // namespace

void avg_pool2d_kernel(
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    bool,
    bool count_include_pad,
    std::optional<int64_t> divisor_override,
    const TensorBase& out) {
  avg_forward(
      "avg_pool2d", self, 2, fixed_windows(self, out, 2, kernel_size, stride, padding, {1}),
      {count_include_pad, divisor_override}, out);
}

void avg_pool3d_kernel(
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    bool,
    bool count_include_pad,
    std::optional<int64_t> divisor_override,
    const TensorBase& out) {
  avg_forward(
      "avg_pool3d", self, 3, fixed_windows(self, out, 3, kernel_size, stride, padding, {1}),
      {count_include_pad, divisor_override}, out);
}

void avg_pool2d_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    bool,
    bool count_include_pad,
    std::optional<int64_t> divisor_override,
    const TensorBase& grad_input) {
  avg_backward(
      "avg_pool2d_backward", grad_output, self, 2,
      fixed_windows(self, grad_output, 2, kernel_size, stride, padding, {1}), {count_include_pad, divisor_override},
      grad_input);
}

void avg_pool3d_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    bool,
    bool count_include_pad,
    std::optional<int64_t> divisor_override,
    const TensorBase& grad_input) {
  avg_backward(
      "avg_pool3d_backward", grad_output, self, 3,
      fixed_windows(self, grad_output, 3, kernel_size, stride, padding, {1}), {count_include_pad, divisor_override},
      grad_input);
}

void adaptive_avg_pool2d_kernel(const TensorBase& self, IntArrayRef, const TensorBase& out) {
  avg_forward("adaptive_avg_pool2d", self, 2, adaptive_windows(self, out, 2), {}, out);
}

void adaptive_avg_pool3d_kernel(const TensorBase& self, IntArrayRef, const TensorBase& out) {
  avg_forward("adaptive_avg_pool3d", self, 3, adaptive_windows(self, out, 3), {}, out);
}

void adaptive_avg_pool2d_backward_kernel(
    const TensorBase& grad_output, const TensorBase& self, const TensorBase& grad_input) {
  avg_backward(
      "adaptive_avg_pool2d_backward", grad_output, self, 2, adaptive_windows(self, grad_output, 2), {}, grad_input);
}

void adaptive_avg_pool3d_backward_kernel(
    const TensorBase& grad_output, const TensorBase& self, const TensorBase& grad_input) {
  avg_backward(
      "adaptive_avg_pool3d_backward", grad_output, self, 3, adaptive_windows(self, grad_output, 3), {}, grad_input);
}

} // namespace CPU_CAPABILITY
} // namespace at::native
