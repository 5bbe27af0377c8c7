// Maximum of windows, regular, adaptive or at random: first down the rows, adjacent in memory, then along them; in a
// channels-last layout, for all channels of a pixel at once.

#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/pool_narrow.h>
#include <aten/native/cpu/pool_rows.h>
#include <aten/native/pointwise/math.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

constexpr auto kMaxDtypes = kFloating | kIntegral;

/// Indices of a full or a partial run, as for_lanes hands them out.
template <class I, int L>
VEC_INLINE I load_places(const typename I::value_type* p, std::integral_constant<int, L>) {
  return I::load(p);
}
template <class I>
VEC_INLINE I load_places(const typename I::value_type* p, int n) {
  return I::load(p, n);
}
template <class I, int L>
VEC_INLINE void store_places(I v, typename I::value_type* p, std::integral_constant<int, L>) {
  v.store(p);
}
template <class I>
VEC_INLINE void store_places(I v, typename I::value_type* p, int n) {
  v.store(p, n);
}

/// Keeps the greater of best and x, of equal ones the earlier, and its place, which is at + i * step for element i. NaN
/// is greater than all, and of several the last one is kept.
template <class T>
void max_run(const T* x, Core<T>* best, Place<T>* place, int64_t n, Place<T> at, Place<T> step, bool first) {
  using P = Place<T>;
  if constexpr (kIsReal<T>) {
    using R = Core<T>;
    using V = typename Lanes<T>::V;
    using I = vec::Vec<P, V::size()>;
    for_lanes<T>(n, [&](int64_t i, auto run) {
      const V v = load_run(x + i, run);
      const I here = I(static_cast<P>(at + static_cast<P>(i) * step)) + I::iota() * I(step);
      V kept = v;
      I from = here;
      if (!first) {
        const V old = load_run<R>(best + i, run);
        const auto take = (v > old) | (v != v);
        kept = vec::select(take, v, old);
        from = vec::select(take, here, load_places<I>(place + i, run));
      }
      store_run<R>(kept, best + i, run);
      store_places(from, place + i, run);
    });
  } else {
    for (int64_t i = 0; i < n; ++i) {
      const bool take = first || x[i] > best[i];
      best[i] = take ? x[i] : best[i];
      place[i] = take ? static_cast<P>(at + i * step) : place[i];
    }
  }
}

/// Whether value v at index p comes before the best one: greater, of equal ones the earlier index, of NaNs the later.
template <class R, class P>
bool beats(R v, P p, R best, P place) {
  if (is_nan(v)) {
    return !is_nan(best) || p > place;
  }
  return v > best || (v == best && p < place);
}

template <class R, class P, int Stride>
void max_regular(const R* column, const P* from, const PoolDim& w, R* out, P* place) {
  const int64_t stride = Stride > 0 ? Stride : w.stride, begin = w.regular_begin, n = w.regular_end - begin;
  if (n <= 0) {
    return; // a window may be far larger than the row
  }
  const int64_t shift = begin * stride - w.padding;
  R* best = out + begin;
  P* where = place + begin;
  for (int64_t i = 0; i < n; ++i) {
    best[i] = column[shift + i * stride];
    where[i] = from[shift + i * stride];
  }
  for (int64_t k = 1; k < w.kernel; ++k) {
    const R* values = column + shift + k * w.step;
    const P* places = from + shift + k * w.step;
    for (int64_t i = 0; i < n; ++i) {
      const R v = values[i * stride], old = best[i];
      const P p = places[i * stride], before = where[i];
      const bool nan = v != v, old_nan = old != old;
      const bool take = (v > old) | ((v == old) & (p < before)) | (nan & (!old_nan | (p > before)));
      best[i] = take ? v : old;
      where[i] = take ? p : before;
    }
  }
}

template <class R, class P>
void max_windows(const R* column, const P* from, const PoolDim& w, R* out, P* place) {
  for (int64_t o = 0; o < w.out; ++o) {
    if (o == w.regular_begin && w.regular_end > o) {
      o = w.regular_end;
    }
    if (o >= w.out) {
      break;
    }
    if (w.begin[o] >= w.end[o]) {
      out[o] = lowest<R>();
      place[o] = 0;
      continue;
    }
    R best = column[w.begin[o]];
    P at = from[w.begin[o]];
    for (int64_t i = w.begin[o] + w.step; i < w.end[o]; i += w.step) {
      if (!beats(column[i], from[i], best, at)) {
        continue;
      }
      best = column[i];
      at = from[i];
    }
    out[o] = best;
    place[o] = at;
  }
  if (w.stride == 1) {
    max_regular<R, P, 1>(column, from, w, out, place);
  } else if (w.stride == 2) {
    max_regular<R, P, 2>(column, from, w, out, place);
  } else {
    max_regular<R, P, 0>(column, from, w, out, place);
  }
}

/// Buffers for the rows of one plane.
template <class T>
struct MaxRows {
  std::vector<Core<T>> column, row;
  std::vector<Place<T>> from, place;

  explicit MaxRows(const PoolWindows& w)
      : column(w.dim[2].in), row(w.dim[2].out), from(w.dim[2].in), place(w.dim[2].out) {}
};

template <class T>
void max_plane(const T* x, T* y, int64_t* indices, const PoolWindows& w, MaxRows<T>& rows) {
  for_result_rows(w, [&](int64_t d, int64_t h, int64_t at) {
    bool first = true;
    for_rows(w, d, h, [&](int64_t offset) {
      max_run(
          x + offset, rows.column.data(), rows.from.data(), w.dim[2].in, static_cast<Place<T>>(offset), Place<T>(1),
          first);
      first = false;
    });
    if (first) {
      std::fill(rows.column.begin(), rows.column.end(), lowest<Core<T>>());
      std::fill(rows.from.begin(), rows.from.end(), Place<T>(0));
    }
    max_windows(rows.column.data(), rows.from.data(), w.dim[2], rows.row.data(), rows.place.data());
    store_row<T>(rows.row.data(), y + at, w.dim[2].out);
    std::copy(rows.place.begin(), rows.place.end(), indices + at);
  });
}

template <class T>
void max_channels_last(const T* x, T* y, int64_t* indices, const PoolLayout& layout, const PoolWindows& w) {
  using P = Place<T>;
  const int64_t channels = layout.channels;
  for_pixels(
      layout, w, [&](int64_t image, int64_t d, int64_t h, int64_t o, int64_t pixel, std::vector<int64_t>& pixels) {
        window_pixels(w, d, h, o, pixels);
        const T* in = x + image * w.in_size() * channels;
        T* out = y + pixel * channels;
        int64_t* place = indices + pixel * channels;
        if (pixels.empty()) {
          std::fill(out, out + channels, static_cast<T>(lowest<Core<T>>()));
          std::fill(place, place + channels, int64_t(0));
          return;
        }
        if constexpr (kIsReal<T>) {
          using V = typename Lanes<T>::V;
          using I = vec::Vec<P, V::size()>;
          for_lanes<T>(channels, [&](int64_t c, auto run) {
            V best = load_run(in + pixels[0] * channels + c, run);
            I from(static_cast<P>(pixels[0]));
            for (size_t k = 1; k < pixels.size(); ++k) {
              const V v = load_run(in + pixels[k] * channels + c, run);
              const auto take = (v > best) | (v != v);
              best = vec::select(take, v, best);
              from = vec::select(take, I(static_cast<P>(pixels[k])), from);
            }
            store_run<T>(best, out + c, run);
            const auto wide = vec::convert<int64_t>(from);
            for (int i = 0; i < run; ++i) {
              place[c + i] = wide[i];
            }
          });
        } else {
          for (int64_t c = 0; c < channels; ++c) {
            int64_t best = pixels[0];
            for (const int64_t at : pixels) {
              best = in[at * channels + c] > in[best * channels + c] ? at : best;
            }
            out[c] = in[best * channels + c];
            place[c] = best;
          }
        }
      });
}

/// Indices must fit the type that counts them.
template <class T>
void check_places(const char* op, const PoolWindows& w) {
  TORCH_CHECK(
      w.in_size() <= std::numeric_limits<Place<T>>::max(), op, ": a plane of ", w.in_size(),
      " elements is too large for this dtype");
}

void max_forward(
    const char* op,
    const TensorBase& self,
    int64_t dims,
    const PoolWindows& w,
    const TensorBase& out,
    const TensorBase& indices) {
  if (out.numel() == 0) {
    return;
  }
  const PoolLayout layout(self, dims);
  const TensorBase x = self.contiguous(layout.format);
  const PoolResult y(out, layout.format, out.scalar_type()), places(indices, layout.format, kLong);
  dispatch(op, self.scalar_type(), kMaxDtypes, [&]<class T> {
    check_places<T>(op, w);
    const T* from = x.const_data_ptr<T>();
    T* to = y.tensor().template mutable_data_ptr<T>();
    int64_t* at = places.tensor().template mutable_data_ptr<int64_t>();
    if (layout.channels_last) {
      return max_channels_last(from, to, at, layout, w);
    }
    if (has_narrow_rows<T>(w)) {
      const auto max_narrow = narrow_plane_kernel<T>(w.dim[2]);
      return for_planes(layout.planes(), w, [&](int64_t first, int64_t last) {
        for (int64_t p = first; p < last; ++p) {
          max_narrow(from + p * w.in_size(), to + p * w.out_size(), at + p * w.out_size(), w);
        }
      });
    }
    for_planes(layout.planes(), w, [&](int64_t first, int64_t last) {
      MaxRows<T> rows(w);
      for (int64_t p = first; p < last; ++p) {
        max_plane(from + p * w.in_size(), to + p * w.out_size(), at + p * w.out_size(), w, rows);
      }
    });
  });
  y.finish();
  places.finish();
}

void max_backward(
    const char* op,
    const TensorBase& grad_output,
    const TensorBase& self,
    int64_t dims,
    const TensorBase& indices,
    const TensorBase& grad_input) {
  if (grad_input.numel() == 0) {
    return;
  }
  const PoolLayout layout(self, dims);
  const TensorBase grad = grad_output.contiguous(layout.format), places = indices.contiguous(layout.format);
  const int64_t in = self.numel() / std::max<int64_t>(1, layout.planes()),
                out = grad.numel() / std::max<int64_t>(1, layout.planes());
  const int64_t* at = places.const_data_ptr<int64_t>();
  const auto checked = [&](int64_t place) {
    TORCH_CHECK(
        place >= 0 && place < in, op, ": found an invalid max index ", place, " (planes have ", in, " elements)");
    return place;
  };
  dispatch(op, self.scalar_type(), kMaxDtypes, [&]<class T> {
    using R = Core<T>;
    const PoolResult result(grad_input, layout.format, c10::CppTypeToScalarType<R>::value);
    const T* g = grad.const_data_ptr<T>();
    R* dx = result.tensor().template mutable_data_ptr<R>();
    const auto add = [](R& sum, T x) { sum = pointwise::add<R>(sum, static_cast<R>(x)); };
    if (layout.channels_last) {
      const int64_t channels = layout.channels;
      for_channel_parts(layout, [&](int64_t image, int64_t first, int64_t last) {
        R* to = dx + image * in * channels;
        for (int64_t i = 0; i < in; ++i) {
          std::fill(to + i * channels + first, to + i * channels + last, R(0));
        }
        for (int64_t o = image * out; o < (image + 1) * out; ++o) {
          for (int64_t c = first; c < last; ++c) {
            add(to[checked(at[o * channels + c]) * channels + c], g[o * channels + c]);
          }
        }
      });
    } else {
      at::parallel_for(
          0, layout.planes(), std::max<int64_t>(1, kGrain / std::max<int64_t>(1, in + out)),
          [&](int64_t first, int64_t last) {
            for (int64_t p = first; p < last; ++p) {
              std::fill(dx + p * in, dx + (p + 1) * in, R(0));
              for (int64_t o = p * out; o < (p + 1) * out; ++o) {
                add(dx[p * in + checked(at[o])], g[o]);
              }
            }
          });
    }
    result.finish();
  });
}

/// First elements of windows whose distances vary by chance; the last window ends with the input.
template <class T>
std::vector<int64_t> random_begins(T sample, int64_t in, int64_t out, int64_t kernel) {
  std::vector<int64_t> begins(static_cast<size_t>(out), 0);
  if (out > 1) {
    const T alpha = static_cast<T>(in - kernel) / static_cast<T>(out - 1);
    for (int64_t i = 0; i < out - 1; ++i) {
      const int64_t begin =
          static_cast<int64_t>((static_cast<T>(i) + sample) * alpha) - static_cast<int64_t>(sample * alpha);
      // Samples beyond [0, 1), which nobody should give, must not lead outside.
      begins[i] = std::clamp<int64_t>(begin, 0, in - kernel);
    }
  }
  begins[out - 1] = in - kernel;
  return begins;
}

void fractional_forward(
    const char* op,
    const TensorBase& self,
    int64_t dims,
    IntArrayRef kernel,
    const TensorBase& samples,
    const TensorBase& out,
    const TensorBase& indices) {
  if (out.numel() == 0) {
    return;
  }
  const auto plain = c10::MemoryFormat::Contiguous;
  const PoolLayout layout(self, dims);
  const TensorBase x = self.contiguous(), chance = samples.contiguous();
  const PoolResult y(out, plain, out.scalar_type()), places(indices, plain, kLong);
  const int64_t rank = self.dim();
  dispatch(op, self.scalar_type(), kFloating, [&]<class T> {
    using R = Core<T>;
    const T* sample = chance.const_data_ptr<T>();
    const int64_t sample_planes = chance.size(1);
    PoolWindows sizes;
    for (int64_t d = 0; d < dims; ++d) {
      sizes.dim[3 - dims + d] = PoolDim::adaptive(self.size(rank - dims + d), out.size(rank - dims + d));
    }
    check_places<T>(op, sizes);
    for_planes(layout.planes(), sizes, [&](int64_t first, int64_t last) {
      MaxRows<T> rows(sizes);
      for (int64_t p = first; p < last; ++p) {
        const T* own = sample + (p / layout.channels * sample_planes + p % layout.channels) * dims;
        PoolWindows w;
        for (int64_t d = 0; d < dims; ++d) {
          // Samples are given as (width, height), but (depth, height, width).
          const R s = static_cast<R>(own[dims == 2 ? 1 - d : d]);
          const int64_t in = self.size(rank - dims + d), k = at_or_only(kernel, d);
          w.dim[3 - dims + d] = PoolDim::at(in, k, random_begins(s, in, out.size(rank - dims + d), k));
        }
        max_plane(
            x.const_data_ptr<T>() + p * w.in_size(), y.tensor().template mutable_data_ptr<T>() + p * w.out_size(),
            places.tensor().template mutable_data_ptr<int64_t>() + p * w.out_size(), w, rows);
      }
    });
  });
  y.finish();
  places.finish();
}

} // namespace

void max_pool2d_kernel(
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool,
    const TensorBase& out,
    const TensorBase& indices) {
  max_forward("max_pool2d", self, 2, fixed_windows(self, out, 2, kernel_size, stride, padding, dilation), out, indices);
}

void max_pool3d_kernel(
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool,
    const TensorBase& out,
    const TensorBase& indices) {
  max_forward("max_pool3d", self, 3, fixed_windows(self, out, 3, kernel_size, stride, padding, dilation), out, indices);
}

void max_pool2d_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase& self,
    IntArrayRef,
    IntArrayRef,
    IntArrayRef,
    IntArrayRef,
    bool,
    const TensorBase& indices,
    const TensorBase& grad_input) {
  max_backward("max_pool2d_backward", grad_output, self, 2, indices, grad_input);
}

void max_pool3d_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase& self,
    IntArrayRef,
    IntArrayRef,
    IntArrayRef,
    IntArrayRef,
    bool,
    const TensorBase& indices,
    const TensorBase& grad_input) {
  max_backward("max_pool3d_backward", grad_output, self, 3, indices, grad_input);
}

void adaptive_max_pool2d_kernel(const TensorBase& self, IntArrayRef, const TensorBase& out, const TensorBase& indices) {
  max_forward("adaptive_max_pool2d", self, 2, adaptive_windows(self, out, 2), out, indices);
}

void adaptive_max_pool3d_kernel(const TensorBase& self, IntArrayRef, const TensorBase& out, const TensorBase& indices) {
  max_forward("adaptive_max_pool3d", self, 3, adaptive_windows(self, out, 3), out, indices);
}

void adaptive_max_pool2d_backward_kernel(
    const TensorBase& grad_output, const TensorBase& self, const TensorBase& indices, const TensorBase& grad_input) {
  max_backward("adaptive_max_pool2d_backward", grad_output, self, 2, indices, grad_input);
}

void adaptive_max_pool3d_backward_kernel(
    const TensorBase& grad_output, const TensorBase& self, const TensorBase& indices, const TensorBase& grad_input) {
  max_backward("adaptive_max_pool3d_backward", grad_output, self, 3, indices, grad_input);
}

void fractional_max_pool2d_kernel(
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef,
    const TensorBase& random_samples,
    const TensorBase& out,
    const TensorBase& indices) {
  fractional_forward("fractional_max_pool2d", self, 2, kernel_size, random_samples, out, indices);
}

void fractional_max_pool3d_kernel(
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef,
    const TensorBase& random_samples,
    const TensorBase& out,
    const TensorBase& indices) {
  fractional_forward("fractional_max_pool3d", self, 3, kernel_size, random_samples, out, indices);
}

void fractional_max_pool2d_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase& self,
    IntArrayRef,
    IntArrayRef,
    const TensorBase& indices,
    const TensorBase& grad_input) {
  max_backward("fractional_max_pool2d_backward", grad_output, self, 2, indices, grad_input);
}

void fractional_max_pool3d_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase& self,
    IntArrayRef,
    IntArrayRef,
    const TensorBase& indices,
    const TensorBase& grad_input) {
  max_backward("fractional_max_pool3d_backward", grad_output, self, 3, indices, grad_input);
}

} // namespace CPU_CAPABILITY
} // namespace at::native
