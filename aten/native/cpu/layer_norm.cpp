// Layer and group normalization: rows are brought to mean zero and variance one, then scaled.

#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/norm.h>
#include <aten/native/cpu/row_lanes.h>
#include <aten/native/support/row_kernel.h>
#include <aten/parallel/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

constexpr int64_t kGrain = 8192;

// Note [One copy of a row's arithmetic]
// Inlined into several callers, products and sums may become fused operations in one copy and not in another, and then
// results would depend on which of them runs: that for one thread or that for several.

/// Mean and variance of a row, in two passes; sums of long rows are carried in double.
template <class T>
C10_NOINLINE void row_moments(const T* x, int64_t n, double& mean, double& variance) {
  using V = typename Lanes<T>::V;
  using R = typename Lanes<T>::R;
  constexpr int64_t kBlock = 4096;
  const auto total = [&](const auto& term) {
    double sum = 0;
    for (int64_t start = 0; start < n; start += kBlock) {
      const int64_t count = std::min(kBlock, n - start);
      V even(R(0)), odd(R(0));
      constexpr int L = Lanes<T>::kSize;
      int64_t i = 0;
      for (; i + 2 * L <= count; i += 2 * L) {
        even += term(Lanes<T>::load(x + start + i));
        odd += term(Lanes<T>::load(x + start + i + L));
      }
      for (; i < count; i += L) {
        const int part = static_cast<int>(std::min<int64_t>(L, count - i));
        even += keep_run(term(Lanes<T>::load(x + start + i, part)), R(0), part);
      }
      sum += static_cast<double>(vec::reduce_add(even + odd));
    }
    return sum;
  };
  mean = total([](V v) { return v; }) / static_cast<double>(n);
  const V center(static_cast<R>(mean));
  const double squares = total([&](V v) {
    const V d = v - center;
    return d * d;
  });
  // What the rounding of the centre to R left behind.
  const double shift = mean - static_cast<double>(static_cast<R>(mean));
  variance = squares / static_cast<double>(n) - shift * shift;
  // Only rounding makes it negative; NaN stays.
  if (variance < 0) {
    variance = 0;
  }
}

/// y = (x - mean) * scale for a row, times and plus its own weights where given. P is the dtype of the weights.
template <class T, class P>
C10_NOINLINE void normalize_row(
    const T* x, T* y, int64_t n, at::opmath_type<T> mean, at::opmath_type<T> scale, const P* weight, const P* bias) {
  using V = typename Lanes<T>::V;
  const V center(mean), a(scale);
  for_lanes<T>(n, [&](int64_t i, auto run) {
    // The difference first: it is exact for values near the mean, and a constant row gives exactly zero.
    V v = (load_run(x + i, run) - center) * a;
    if (weight) {
      v = v * load_run(weight + i, run);
    }
    if (bias) {
      v = v + load_run(bias + i, run);
    }
    store_run<T>(v, y + i, run);
  });
}

/// y = (x - mean) * scale + shift for the elements of one channel.
template <class T>
void normalize_plane(
    const T* x, T* y, int64_t n, at::opmath_type<T> mean, at::opmath_type<T> scale, at::opmath_type<T> shift) {
  using V = typename Lanes<T>::V;
  const V center(mean), a(scale), b(shift);
  for_lanes<T>(n, [&](int64_t i, auto run) { store_run<T>((load_run(x + i, run) - center) * a + b, y + i, run); });
}

template <class P>
const P* data_or_null(const TensorBase& t) {
  return t.defined() ? t.const_data_ptr<P>() : nullptr;
}

TensorBase contiguous_or_none(const std::optional<Tensor>& t) {
  return t.has_value() && t->defined() ? static_cast<const TensorBase&>(*t).contiguous() : TensorBase();
}

/// Calls f.operator()<P>() for the dtype of the weights: that of the input, or float beside a 16-bit input.
template <class T, class F>
void with_weight_type(c10::ScalarType dtype, const F& f) {
  if (dtype == c10::CppTypeToScalarType<T>::value) {
    return f.template operator()<T>();
  }
  f.template operator()<at::opmath_type<T>>();
}

template <class T, class P>
C10_NOINLINE void layer_norm_rows(
    const T* x, int64_t rows, int64_t n, const P* weight, const P* bias, double eps, T* y, P* means, P* rstds) {
  using R = at::opmath_type<T>;
  for (int64_t r = 0; r < rows; ++r) {
    // Of no elements the mean is 0, and the deviation is not a number.
    double mean = 0, variance = n > 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
    if (n > 0) {
      row_moments(x + r * n, n, mean, variance);
    }
    const double rstd = 1.0 / std::sqrt(variance + eps);
    normalize_row<T, P>(x + r * n, y + r * n, n, static_cast<R>(mean), static_cast<R>(rstd), weight, bias);
    means[r] = static_cast<P>(mean);
    rstds[r] = static_cast<P>(rstd);
  }
}

template <class T, class P>
void layer_norm_block(const RowBlock& block) {
  layer_norm_rows<T, P>(
      reinterpret_cast<const T*>(block.inputs[0]), block.rows, block.size, reinterpret_cast<const P*>(block.inputs[1]),
      reinterpret_cast<const P*>(block.inputs[2]), block.eps, reinterpret_cast<T*>(block.outputs[0]),
      reinterpret_cast<P*>(block.outputs[1]), reinterpret_cast<P*>(block.outputs[2]));
}

int64_t trailing_numel(IntArrayRef shape) {
  int64_t n = 1;
  for (const int64_t size : shape) {
    n *= size;
  }
  return n;
}

} // namespace

void layer_norm_kernel(
    const TensorBase& input,
    IntArrayRef normalized_shape,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias,
    double eps,
    const TensorBase& out,
    const TensorBase& mean,
    const TensorBase& rstd) {
  dispatch("LayerNormKernelImpl", input.scalar_type(), kFloating, [&]<class T> {
    const TensorBase x = input.contiguous(), w = contiguous_or_none(weight), b = contiguous_or_none(bias);
    const int64_t n = trailing_numel(normalized_shape);
    with_weight_type<T>(mean.scalar_type(), [&]<class P> {
      const T* const from = x.const_data_ptr<T>();
      const P *const scale = data_or_null<P>(w), *const shift = data_or_null<P>(b);
      T* const to = out.mutable_data_ptr<T>();
      P *const means = mean.mutable_data_ptr<P>(), *const rstds = rstd.mutable_data_ptr<P>();
      const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, n));
      at::parallel_for(0, mean.numel(), grain, [&](int64_t begin, int64_t end) {
        layer_norm_rows<T, P>(
            from + begin * n, end - begin, n, scale, shift, eps, to + begin * n, means + begin, rstds + begin);
      });
    });
  });
}

RowKernel layer_norm_row_kernel(c10::ScalarType dtype, c10::ScalarType other) {
  RowKernel kernel = nullptr;
  dispatch("layer_norm", dtype, kFloating, [&]<class T> {
    using P = at::opmath_type<T>;
    if (other == dtype) {
      kernel = layer_norm_block<T, T>;
    } else if (other == c10::CppTypeToScalarType<P>::value) {
      kernel = layer_norm_block<T, P>;
    }
  });
  return kernel;
}

void group_norm_kernel(
    const TensorBase& input,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias,
    int64_t batch,
    int64_t channels,
    int64_t spatial,
    int64_t groups,
    double eps,
    const TensorBase& out,
    const TensorBase& mean,
    const TensorBase& rstd) {
  dispatch("GroupNormKernelImpl", input.scalar_type(), kFloating, [&]<class T> {
    using R = at::opmath_type<T>;
    const TensorBase xs = input.contiguous(), w = contiguous_or_none(weight), b = contiguous_or_none(bias);
    const int64_t per_group = channels / groups, n = per_group * spatial;
    const T* x = xs.const_data_ptr<T>();
    T* y = out.mutable_data_ptr<T>();
    with_weight_type<T>(mean.scalar_type(), [&]<class P> {
      const P* gamma = data_or_null<P>(w);
      const P* beta = data_or_null<P>(b);
      P* means = mean.mutable_data_ptr<P>();
      P* rstds = rstd.mutable_data_ptr<P>();
      at::parallel_for(
          0, batch * groups, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, n)), [&](int64_t begin, int64_t end) {
            for (int64_t r = begin; r < end; ++r) {
              double m = 0, variance = 0;
              if (n > 0) {
                row_moments(x + r * n, n, m, variance);
              }
              const double s = 1.0 / std::sqrt(variance + eps);
              for (int64_t c = 0; c < per_group; ++c) {
                const int64_t channel = r % groups * per_group + c, at = r * n + c * spatial;
                const R scale = static_cast<R>(s) * (gamma ? static_cast<R>(gamma[channel]) : R(1));
                normalize_plane(
                    x + at, y + at, spatial, static_cast<R>(m), scale, beta ? static_cast<R>(beta[channel]) : R(0));
              }
              means[r] = static_cast<P>(m);
              rstds[r] = static_cast<P>(s);
            }
          });
    });
  });
}

namespace {

/// One row: dx = rstd * (w g - mean(w g) - xhat * mean(w g xhat)).
template <class T, class P>
C10_NOINLINE void layer_norm_backward_row(
    const T* g, const T* x, int64_t n, at::opmath_type<T> mean, at::opmath_type<T> rstd, const P* weight, T* dx) {
  using V = typename Lanes<T>::V;
  using R = typename Lanes<T>::R;
  const V center(mean), scale(rstd);
  V sum_g(R(0)), sum_gx(R(0));
  const auto weighted = [&](int64_t i, auto run) {
    V v = load_run(g + i, run);
    if (weight) {
      v = v * load_run(weight + i, run);
    }
    return v;
  };
  for_lanes<T>(n, [&](int64_t i, auto run) {
    const V wg = weighted(i, run);
    sum_g += wg;
    sum_gx += wg * ((load_run(x + i, run) - center) * scale);
  });
  const V mean_g(vec::reduce_add(sum_g) / R(n)), mean_gx(vec::reduce_add(sum_gx) / R(n));
  for_lanes<T>(n, [&](int64_t i, auto run) {
    const V xhat = (load_run(x + i, run) - center) * scale;
    store_run<T>(scale * (weighted(i, run) - mean_g - xhat * mean_gx), dx + i, run);
  });
}

} // namespace

void layer_norm_backward_kernel(const NormBackward& p) {
  dispatch("LayerNormBackwardKernelImpl", p.input.scalar_type(), kFloating, [&]<class T> {
    using V = typename Lanes<T>::V;
    using R = typename Lanes<T>::R;
    const T* g = p.grad.const_data_ptr<T>();
    const T* x = p.input.const_data_ptr<T>();
    with_weight_type<T>(p.mean.scalar_type(), [&]<class P> {
      const P* means = p.mean.const_data_ptr<P>();
      const P* rstds = p.rstd.const_data_ptr<P>();
      const P* w = data_or_null<P>(p.weight);
      T* dx = p.grad_input.defined() ? p.grad_input.mutable_data_ptr<T>() : nullptr;
      const bool need_weights = p.grad_weight.defined() || p.grad_bias.defined();
      // Each part of the rows sums into its own copy of the weights' gradients; the copies are added in order.
      // As many for any number of threads, so that the sums are the same.
      constexpr int64_t kMostSums = 16;
      const int64_t parts = need_weights
          ? std::clamp<int64_t>(p.rows * p.size / (4 * kGrain), 1, std::clamp<int64_t>(p.rows, 1, kMostSums))
          : at::get_num_threads();
      std::vector<R> sums(need_weights ? 2 * parts * p.size : 0, R(0));
      at::parallel_for(0, parts, 1, [&](int64_t first, int64_t last) {
        for (int64_t part = first; part < last; ++part) {
          R* dw = need_weights ? sums.data() + 2 * part * p.size : nullptr;
          R* db = need_weights ? dw + p.size : nullptr;
          for (int64_t r = p.rows * part / parts; r < p.rows * (part + 1) / parts; ++r) {
            const T* gr = g + r * p.size;
            const T* xr = x + r * p.size;
            const R mean = static_cast<R>(means[r]), rstd = static_cast<R>(rstds[r]);
            if (dx) {
              layer_norm_backward_row<T, P>(gr, xr, p.size, mean, rstd, w, dx + r * p.size);
            }
            if (!need_weights) {
              continue;
            }
            for_lanes<T>(p.size, [&](int64_t i, auto run) {
              const V gv = load_run(gr + i, run);
              const V xhat = (load_run(xr + i, run) - V(mean)) * V(rstd);
              store_run<R>(load_run<R>(dw + i, run) + gv * xhat, dw + i, run);
              store_run<R>(load_run<R>(db + i, run) + gv, db + i, run);
            });
          }
        }
      });
      const auto finish = [&](const TensorBase& to, int64_t offset) {
        if (!to.defined()) {
          return;
        }
        P* out = to.mutable_data_ptr<P>();
        for (int64_t i = 0; i < p.size; ++i) {
          R sum = 0;
          for (int64_t part = 0; part < parts; ++part) {
            sum += sums[2 * part * p.size + offset + i];
          }
          out[i] = static_cast<P>(sum);
        }
      };
      finish(p.grad_weight, 0);
      finish(p.grad_bias, p.size);
    });
  });
}

void group_norm_backward_kernel(const NormBackward& p) {
  dispatch("GroupNormBackwardKernelImpl", p.input.scalar_type(), kFloating, [&]<class T> {
    using R = typename Lanes<T>::R;
    using V = typename Lanes<T>::V;
    const T* g = p.grad.const_data_ptr<T>();
    const T* x = p.input.const_data_ptr<T>();
    const int64_t channels = p.channels, spatial = p.size, per_group = channels / p.groups;
    // Per image and channel: the sums of g and of g * x, from which all gradients follow.
    std::vector<R> sum_g(p.rows * channels), sum_gx(p.rows * channels);
    const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, spatial));
    at::parallel_for(0, p.rows * channels, grain, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        V s(R(0)), sx(R(0));
        for_lanes<T>(spatial, [&](int64_t i, auto run) {
          const V gv = load_run(g + c * spatial + i, run);
          s += gv;
          sx += gv * load_run(x + c * spatial + i, run);
        });
        sum_g[c] = vec::reduce_add(s);
        sum_gx[c] = vec::reduce_add(sx);
      }
    });
    with_weight_type<T>(p.mean.scalar_type(), [&]<class P> {
      const P* means = p.mean.const_data_ptr<P>();
      const P* rstds = p.rstd.const_data_ptr<P>();
      const P* w = data_or_null<P>(p.weight);
      if (p.grad_input.defined()) {
        T* dx = p.grad_input.mutable_data_ptr<T>();
        at::parallel_for(
            0, p.rows * p.groups, std::max<int64_t>(1, grain / per_group), [&](int64_t begin, int64_t end) {
              for (int64_t r = begin; r < end; ++r) {
                const R mean = static_cast<R>(means[r]), rstd = static_cast<R>(rstds[r]);
                const int64_t first = r / p.groups * channels + r % p.groups * per_group;
                const auto weight_of = [&](int64_t c) { return w ? static_cast<R>(w[(first + c) % channels]) : R(1); };
                R ds = 0, db = 0;
                for (int64_t c = 0; c < per_group; ++c) {
                  ds += sum_gx[first + c] * weight_of(c);
                  db += sum_g[first + c] * weight_of(c);
                }
                const R count = static_cast<R>(per_group * spatial);
                const R slope = (db * mean - ds) * rstd * rstd * rstd / count;
                const V a(slope), b(-slope * mean - db * rstd / count);
                for (int64_t c = 0; c < per_group; ++c) {
                  const V scale(rstd * weight_of(c));
                  const int64_t at = (first + c) * spatial;
                  for_lanes<T>(spatial, [&](int64_t i, auto run) {
                    store_run<T>(
                        load_run(g + at + i, run) * scale + load_run(x + at + i, run) * a + b, dx + at + i, run);
                  });
                }
              }
            });
      }
      for (int64_t c = 0; c < channels; ++c) {
        R dw = 0, db = 0;
        for (int64_t image = 0; image < p.rows; ++image) {
          const int64_t at = image * channels + c, group = image * p.groups + c / per_group;
          dw += (sum_gx[at] - sum_g[at] * static_cast<R>(means[group])) * static_cast<R>(rstds[group]);
          db += sum_g[at];
        }
        if (p.grad_weight.defined()) {
          p.grad_weight.mutable_data_ptr<P>()[c] = static_cast<P>(dw);
        }
        if (p.grad_bias.defined()) {
          p.grad_bias.mutable_data_ptr<P>()[c] = static_cast<P>(db);
        }
      }
    });
  });
}

} // namespace CPU_CAPABILITY
} // namespace at::native
