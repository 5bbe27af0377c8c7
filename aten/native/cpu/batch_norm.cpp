// Batch normalization. Statistics are taken in one pass over memory: mean and squares of a block that stays in the
// cache, blocks combined in double.

#include <aten/native/cpu/batch_norm.h>

#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/row_lanes.h>
#include <aten/parallel/Parallel.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

constexpr int64_t kGrain = 16384;
constexpr int64_t kBlock = 4096;

template <class P>
const P* data_or_null(const TensorBase& t) {
  return t.defined() ? t.const_data_ptr<P>() : nullptr;
}

/// Calls f.operator()<P>() for the dtype of the weights: that of the data, or float beside 16-bit data.
template <class T, class F>
void with_weight_type(const TensorBase& any, const F& f) {
  if (!any.defined() || any.scalar_type() == c10::CppTypeToScalarType<T>::value) {
    return f.template operator()<T>();
  }
  f.template operator()<at::opmath_type<T>>();
}

/// Count, mean and sum of squared differences of a growing set.
struct Moments {
  double count = 0, mean = 0, squares = 0;

  void join(double n, double block_mean, double block_squares) {
    const double total = count + n, gap = block_mean - mean;
    mean += gap * n / total;
    squares += block_squares + gap * gap * count * n / total;
    count = total;
  }
};

/// Calls f(channels [begin, end)) over threads. In a channels-last layout each thread takes whole cache lines of them.
template <class F>
void for_channels(const BatchNorm& p, const F& f) {
  const int64_t step = p.channels_last ? 32 : 1, work = std::max<int64_t>(1, p.batch * p.spatial * step);
  at::parallel_for(
      0, (p.channels + step - 1) / step, std::max<int64_t>(1, kGrain / work),
      [&](int64_t begin, int64_t end) { f(begin * step, std::min(p.channels, end * step)); });
}

/// Sums of a block's deviations from a number and of their squares.
template <class T>
struct Deviations {
  double sum, squares;

  Deviations(const T* block, int64_t count, at::opmath_type<T> from) {
    using V = typename Lanes<T>::V;
    using R = typename Lanes<T>::R;
    constexpr int kSize = Lanes<T>::kSize, kChains = 4; // which need not wait for each other
    const V center(from);
    V sums[kChains], all[kChains];
    for (int c = 0; c < kChains; ++c) {
      sums[c] = all[c] = V(R(0));
    }
    int64_t i = 0;
    for (; i + kChains * kSize <= count; i += kChains * kSize) {
      for (int c = 0; c < kChains; ++c) {
        const V d = Lanes<T>::load(block + i + c * kSize) - center;
        sums[c] += d;
        all[c] += d * d;
      }
    }
    for (; i + kSize <= count; i += kSize) {
      const V d = Lanes<T>::load(block + i) - center;
      sums[0] += d;
      all[0] += d * d;
    }
    sum = squares = 0;
    if (i > 0) {
      sum = static_cast<double>(vec::reduce_add((sums[0] + sums[1]) + (sums[2] + sums[3])));
      squares = static_cast<double>(vec::reduce_add((all[0] + all[1]) + (all[2] + all[3])));
    }
    for (; i < count; ++i) {
      const double d = static_cast<R>(block[i]) - from;
      sum += d;
      squares += d * d;
    }
  }

  double excess(int64_t count) const {
    return sum * sum / static_cast<double>(count);
  }
  /// Whether the center was near enough to the mean that squares lose next to nothing.
  bool exact(int64_t count) const {
    return excess(count) <= 0.5 * squares;
  }
};

template <class T>
void plane_moments(const BatchNorm& p, const T* x, int64_t channel, Moments& m) {
  using R = typename Lanes<T>::R;
  for (int64_t n = 0; n < p.batch; ++n) {
    const T* plane = x + (n * p.channels + channel) * p.spatial;
    for (int64_t at = 0; at < p.spatial; at += kBlock) {
      const int64_t count = std::min(kBlock, p.spatial - at);
      // The mean so far will mostly do as the center; else the block's own, while it is in the cache.
      R center = static_cast<R>(m.mean);
      Deviations<T> found(plane + at, count, center);
      if (!found.exact(count)) {
        center += static_cast<R>(found.sum / static_cast<double>(count));
        found = Deviations<T>(plane + at, count, center);
      }
      m.join(
          static_cast<double>(count), static_cast<double>(center) + found.sum / static_cast<double>(count),
          found.squares - found.excess(count));
    }
  }
}

/// Sums over pixels that need not wait for each other.
constexpr int kChains = 4;
template <class F>
void for_chains(int64_t count, const F& f) {
  int64_t i = 0;
  for (; i + kChains <= count; i += kChains) {
    for (int k = 0; k < kChains; ++k) {
      f(i + k, k);
    }
  }
  for (; i < count; ++i) {
    f(i, 0);
  }
}
template <class V>
V joined(const V (&sums)[kChains]) {
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Moments of channels [first, last) of pixels that have their channels side by side.
template <class T>
void pixel_moments(const BatchNorm& p, const T* x, int64_t first, int64_t last, Moments* m) {
  using V = typename Lanes<T>::V;
  using R = typename Lanes<T>::R;
  const int64_t width = last - first, pixels = p.batch * p.spatial,
                step = std::clamp<int64_t>(8 * kBlock / std::max<int64_t>(1, width), 16, 512);
  std::vector<R> sums(width), squares(width);
  for (int64_t at = 0; at < pixels; at += step) {
    const int64_t count = std::min(step, pixels - at);
    for (int64_t c = 0; c < width; c += Lanes<T>::kSize) {
      const int part = static_cast<int>(std::min<int64_t>(Lanes<T>::kSize, width - c));
      const T* column = x + at * p.channels + first + c;
      const auto over = [&](auto run) {
        const auto pixel = [&](int64_t i) { return load_run(column + i * p.channels, run); };
        V sums_of[kChains], squares_of[kChains], rests[kChains];
        for (int k = 0; k < kChains; ++k) {
          sums_of[k] = squares_of[k] = rests[k] = V(R(0));
        }
        for_chains(count, [&](int64_t i, int k) { sums_of[k] += pixel(i); });
        const V mean = joined(sums_of) / V(static_cast<R>(count));
        for_chains(count, [&](int64_t i, int k) {
          const V d = pixel(i) - mean;
          squares_of[k] += d * d;
          rests[k] += d;
        });
        const V rest = joined(rests), square = joined(squares_of), shift = rest / V(static_cast<R>(count));
        store_run<R>(mean + shift, sums.data() + c, run);
        store_run<R>(square - shift * rest, squares.data() + c, run);
      };
      if (part == Lanes<T>::kSize) {
        over(std::integral_constant<int, Lanes<T>::kSize>{});
      } else {
        over(part);
      }
    }
    for (int64_t c = 0; c < width; ++c) {
      m[c].join(static_cast<double>(count), static_cast<double>(sums[c]), static_cast<double>(squares[c]));
    }
  }
}

/// Calls f(first element, pixels, first channel, lanes) for columns of some pixels that have their channels side by
/// side.
template <class T, class F>
void for_columns(const BatchNorm& p, const F& f) {
  const int64_t channels = std::max<int64_t>(1, p.channels), step = std::clamp<int64_t>(kBlock / channels, 1, 64);
  at::parallel_for(0, p.batch * p.spatial, std::max<int64_t>(1, kGrain / channels), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; at += step) {
      for_lanes<T>(p.channels, [&](int64_t c, auto run) { f(at * p.channels + c, std::min(step, end - at), c, run); });
    }
  });
}

/// Calls f(first element, count, channel) for planes.
template <class F>
void for_planes(const BatchNorm& p, const F& f) {
  at::parallel_for(
      0, p.batch * p.channels, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, p.spatial)),
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          f(i * p.spatial, p.spatial, i % p.channels);
        }
      });
}

/// Numbers of each channel in the computing type.
template <class R>
struct PerChannel {
  std::vector<R> mean, scale, shift;

  explicit PerChannel(int64_t channels) : mean(channels), scale(channels), shift(channels) {}
};

double reciprocal_deviation(double variance, double eps) {
  return variance == 0 && eps == 0 ? 0 : 1 / std::sqrt(variance + eps);
}

} // namespace

void batch_norm_moments(const BatchNorm& p) {
  double* mean = p.mean.mutable_data_ptr<double>();
  double* variance = p.variance.mutable_data_ptr<double>();
  dispatch("batch_norm", p.input.scalar_type(), kFloating, [&]<class T> {
    const T* x = p.input.const_data_ptr<T>();
    for_channels(p, [&](int64_t begin, int64_t end) {
      std::vector<Moments> m(end - begin);
      if (p.channels_last) {
        pixel_moments(p, x, begin, end, m.data());
      } else {
        for (int64_t c = begin; c < end; ++c) {
          plane_moments(p, x, c, m[c - begin]);
        }
      }
      for (int64_t c = begin; c < end; ++c) {
        mean[c] = m[c - begin].mean;
        // Only rounding makes it negative; NaN stays.
        const double squares = m[c - begin].squares;
        variance[c] = (squares < 0 ? 0 : squares) / static_cast<double>(p.batch * p.spatial);
      }
    });
  });
}

void batch_norm_forward_kernel(const BatchNorm& p) {
  dispatch("batch_norm", p.input.scalar_type(), kFloating, [&]<class T> {
    using V = typename Lanes<T>::V;
    using R = typename Lanes<T>::R;
    const T* x = p.input.const_data_ptr<T>();
    T* y = p.output.mutable_data_ptr<T>();
    PerChannel<R> channel(p.channels);
    with_weight_type<T>(p.weight.defined() ? p.weight : p.bias, [&]<class P> {
      const P *weight = data_or_null<P>(p.weight), *bias = data_or_null<P>(p.bias);
      for (int64_t c = 0; c < p.channels; ++c) {
        channel.mean[c] = static_cast<R>(p.mean.const_data_ptr<double>()[c]);
        channel.scale[c] = static_cast<R>(reciprocal_deviation(p.variance.const_data_ptr<double>()[c], p.eps)) *
            (weight ? static_cast<R>(weight[c]) : R(1));
        channel.shift[c] = bias ? static_cast<R>(bias[c]) : R(0);
      }
    });
    if (p.channels_last) {
      return for_columns<T>(p, [&](int64_t at, int64_t pixels, int64_t c, auto run) {
        const V mean = load_run<R>(channel.mean.data() + c, run), scale = load_run<R>(channel.scale.data() + c, run),
                shift = load_run<R>(channel.shift.data() + c, run);
        for (int64_t i = at; i < at + pixels * p.channels; i += p.channels) {
          store_run<T>((load_run(x + i, run) - mean) * scale + shift, y + i, run);
        }
      });
    }
    for_planes(p, [&](int64_t at, int64_t count, int64_t c) {
      const V mean(channel.mean[c]), scale(channel.scale[c]), shift(channel.shift[c]);
      for_lanes<T>(count, [&](int64_t i, auto run) {
        store_run<T>((load_run(x + at + i, run) - mean) * scale + shift, y + at + i, run);
      });
    });
  });
}

void batch_norm_backward_kernel(const BatchNorm& p) {
  dispatch("batch_norm_backward", p.input.scalar_type(), kFloating, [&]<class T> {
    using V = typename Lanes<T>::V;
    using R = typename Lanes<T>::R;
    const T *x = p.input.const_data_ptr<T>(), *g = p.grad.const_data_ptr<T>();
    const double *means = p.mean.const_data_ptr<double>(), *variances = p.variance.const_data_ptr<double>();
    const int64_t pixels = p.batch * p.spatial;
    // Of each channel: the sums of g and of g * (x - mean), from which all gradients follow.
    std::vector<double> sums(p.channels), dots(p.channels);
    for_channels(p, [&](int64_t begin, int64_t end) {
      if (!p.channels_last) {
        for (int64_t c = begin; c < end; ++c) {
          const V mean(static_cast<R>(means[c]));
          for (int64_t n = 0; n < p.batch; ++n) {
            const int64_t plane = (n * p.channels + c) * p.spatial;
            for (int64_t at = plane; at < plane + p.spatial; at += kBlock) {
              V sum(R(0)), dot(R(0));
              for_lanes<T>(std::min(kBlock, plane + p.spatial - at), [&](int64_t i, auto run) {
                const V gv = load_run(g + at + i, run);
                sum += gv;
                dot += gv * (load_run(x + at + i, run) - mean);
              });
              sums[c] += static_cast<double>(vec::reduce_add(sum));
              dots[c] += static_cast<double>(vec::reduce_add(dot));
            }
          }
        }
        return;
      }
      const int64_t width = end - begin;
      std::vector<R> sum(width), dot(width), mean(width);
      for (int64_t c = 0; c < width; ++c) {
        mean[c] = static_cast<R>(means[begin + c]);
      }
      for (int64_t at = 0; at < pixels; at += 256) {
        for_lanes<T>(width, [&](int64_t c, auto run) {
          const V center = load_run<R>(mean.data() + c, run);
          V sums_of[kChains], dots_of[kChains];
          for (int k = 0; k < kChains; ++k) {
            sums_of[k] = dots_of[k] = V(R(0));
          }
          for_chains(std::min<int64_t>(256, pixels - at), [&](int64_t i, int k) {
            const int64_t place = (at + i) * p.channels + begin + c;
            const V gv = load_run(g + place, run);
            sums_of[k] += gv;
            dots_of[k] += gv * (load_run(x + place, run) - center);
          });
          store_run<R>(joined(sums_of), sum.data() + c, run);
          store_run<R>(joined(dots_of), dot.data() + c, run);
        });
        for (int64_t c = 0; c < width; ++c) {
          sums[begin + c] += static_cast<double>(sum[c]);
          dots[begin + c] += static_cast<double>(dot[c]);
        }
      }
    });
    // dx = scale * g + slope * (x - mean) + shift, the last two only where the statistics depend on x.
    PerChannel<R> channel(p.channels);
    std::vector<R> slope(p.channels);
    with_weight_type<T>(
        p.weight.defined()            ? p.weight
            : p.grad_weight.defined() ? p.grad_weight
                                      : p.grad_bias,
        [&]<class P> {
          const P* weight = data_or_null<P>(p.weight);
          for (int64_t c = 0; c < p.channels; ++c) {
            const double invstd = reciprocal_deviation(variances[c], p.eps),
                         scale = invstd * (weight ? static_cast<double>(weight[c]) : 1);
            const double count = static_cast<double>(pixels);
            channel.mean[c] = static_cast<R>(means[c]);
            channel.scale[c] = static_cast<R>(scale);
            slope[c] = p.train ? static_cast<R>(-scale * dots[c] * invstd * invstd / count) : R(0);
            channel.shift[c] = p.train ? static_cast<R>(-scale * sums[c] / count) : R(0);
            if (p.grad_weight.defined()) {
              p.grad_weight.mutable_data_ptr<P>()[c] = static_cast<P>(dots[c] * invstd);
            }
            if (p.grad_bias.defined()) {
              p.grad_bias.mutable_data_ptr<P>()[c] = static_cast<P>(sums[c]);
            }
          }
        });
    if (!p.grad_input.defined()) {
      return;
    }
    T* dx = p.grad_input.mutable_data_ptr<T>();
    if (p.channels_last) {
      return for_columns<T>(p, [&](int64_t at, int64_t count, int64_t c, auto run) {
        const V mean = load_run<R>(channel.mean.data() + c, run), scale = load_run<R>(channel.scale.data() + c, run),
                shift = load_run<R>(channel.shift.data() + c, run), tilt = load_run<R>(slope.data() + c, run);
        for (int64_t i = at; i < at + count * p.channels; i += p.channels) {
          store_run<T>(load_run(g + i, run) * scale + (load_run(x + i, run) - mean) * tilt + shift, dx + i, run);
        }
      });
    }
    for_planes(p, [&](int64_t at, int64_t count, int64_t c) {
      const V mean(channel.mean[c]), scale(channel.scale[c]), shift(channel.shift[c]), tilt(slope[c]);
      for_lanes<T>(count, [&](int64_t i, auto run) {
        store_run<T>(
            load_run(g + at + i, run) * scale + (load_run(x + at + i, run) - mean) * tilt + shift, dx + at + i, run);
      });
    });
  });
}

} // namespace CPU_CAPABILITY
} // namespace at::native
