// Batch normalization. Statistics are taken in one pass over memory: mean and squares of a block that stays in the
// cache, blocks combined in double.

#include <aten/native/cpu/batch_norm.h>

#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/row_lanes.h>
#include <aten/native/vec/math.h>
#include <aten/native/pointwise/activation.h>
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

/// Sums over pixels in parts that need not wait for each other.
constexpr int kChains = 4;
template <class V>
struct Chains {
  V part[kChains]{V(0), V(0), V(0), V(0)};

  V total() const {
    return (part[0] + part[1]) + (part[2] + part[3]);
  }
};
/// Calls f(pixel, part) for pixels [0, count).
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

/// Pixels of all channels that are worked on together: memory is walked through in order, and numbers of channels are
/// loaded once for all of them.
int64_t pixels_of_block(int64_t channels) {
  constexpr int64_t kElements = 1024, kMost = 64;
  return std::clamp<int64_t>(kElements / std::max<int64_t>(1, channels) / kChains * kChains, kChains, kMost);
}
/// Calls f(first pixel, pixels, first channel, lanes) for such blocks of `count` pixels and `width` channels.
template <class T, class F>
void for_blocks(int64_t count, int64_t width, const F& f) {
  const int64_t step = pixels_of_block(width);
  for (int64_t at = 0; at < count; at += step) {
    for_lanes<T>(width, [&](int64_t c, auto run) { f(at, std::min(step, count - at), c, run); });
  }
}

/// Moments of channels [first, last) of pixels that have their channels side by side.
template <class T>
void pixel_moments(const BatchNorm& p, const T* x, int64_t first, int64_t last, Moments* m) {
  using V = typename Lanes<T>::V;
  using R = typename Lanes<T>::R;
  constexpr int64_t kSize = Lanes<T>::kSize;
  const int64_t width = last - first, pixels = p.batch * p.spatial, columns = (width + kSize - 1) / kSize,
                step = std::clamp<int64_t>(8 * kBlock / std::max<int64_t>(1, width), 16, 512);
  std::vector<R> means(width), squares(width);
  for (int64_t at = 0; at < pixels; at += step) {
    const int64_t count = std::min(step, pixels - at);
    const T* const block = x + at * p.channels + first;
    std::vector<Chains<V>> sums(columns), squares_of(columns), rests(columns);
    std::vector<V> centers(columns);
    for_blocks<T>(count, width, [&](int64_t pixel, int64_t n, int64_t c, auto run) {
      Chains<V> sum = sums[c / kSize];
      for_chains(n, [&](int64_t i, int k) { sum.part[k] += load_run(block + (pixel + i) * p.channels + c, run); });
      sums[c / kSize] = sum;
    });
    for (int64_t k = 0; k < columns; ++k) {
      centers[k] = sums[k].total() / V(static_cast<R>(count));
    }
    for_blocks<T>(count, width, [&](int64_t pixel, int64_t n, int64_t c, auto run) {
      const V center = centers[c / kSize];
      Chains<V> square = squares_of[c / kSize], rest = rests[c / kSize];
      for_chains(n, [&](int64_t i, int k) {
        const V d = load_run(block + (pixel + i) * p.channels + c, run) - center;
        square.part[k] += d * d;
        rest.part[k] += d;
      });
      squares_of[c / kSize] = square;
      rests[c / kSize] = rest;
    });
    for_lanes<T>(width, [&](int64_t c, auto run) {
      const V rest = rests[c / kSize].total(), shift = rest / V(static_cast<R>(count));
      store_run<R>(centers[c / kSize] + shift, means.data() + c, run);
      store_run<R>(squares_of[c / kSize].total() - shift * rest, squares.data() + c, run);
    });
    for (int64_t c = 0; c < width; ++c) {
      m[c].join(static_cast<double>(count), static_cast<double>(means[c]), static_cast<double>(squares[c]));
    }
  }
}

/// Calls f(first element, pixels, first channel, lanes) for columns of some pixels that have their channels side by
/// side.
template <class T, class F>
void for_columns(const BatchNorm& p, const F& f) {
  const int64_t channels = std::max<int64_t>(1, p.channels), step = pixels_of_block(channels);
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

/// The gradient of what the normalization gives, out of the gradient g behind an activation. `kIsKept`: whether it is
/// written where the gradient of the input will be, rather than computed again.
struct NoActivation {
  static constexpr bool kTakesResult = false, kIsKept = false;
  template <class V>
  static VEC_INLINE V grad(V g, V) {
    return g;
  }
};
struct ReluActivation {
  static constexpr bool kTakesResult = true, kIsKept = false;
  template <class V>
  static VEC_INLINE V grad(V g, V result) {
    return select(result <= V(0), V(0), g);
  }
};
struct SiluActivation {
  static constexpr bool kTakesResult = true, kIsKept = true;
  template <class V>
  static VEC_INLINE V grad(V g, V result) {
    return SiluBackward{}(g, result);
  }
};

/// Calls f.operator()<Activation>() for that of a problem; of numbers that are not floats there is none.
template <class T, class F>
void with_activation(const BatchNorm& p, const F& f) {
  if constexpr (std::is_same_v<T, float>) {
    if (p.activation == onednn::Activation::Relu) {
      return f.template operator()<ReluActivation>();
    }
    if (p.activation == onednn::Activation::Silu) {
      return f.template operator()<SiluActivation>();
    }
  }
  f.template operator()<NoActivation>();
}

/// Numbers of a run of channels, or of one channel, by which the gradient behind an activation is turned into that of
/// the normalization.
template <class T, class A>
struct Unactivated {
  using V = typename Lanes<T>::V;
  using R = typename Lanes<T>::R;
  V mean, scale = V(R(0)), shift = V(R(0));

  Unactivated(const BatchNorm& p, V mean_, int64_t c, auto run) : mean(mean_) {
    if constexpr (A::kTakesResult) {
      scale = load_run<R>(p.scale.const_data_ptr<R>() + c, run);
      shift = p.bias.defined() ? load_run<R>(p.bias.const_data_ptr<R>() + c, run) : shift;
    }
  }
  /// Of one channel.
  Unactivated(const BatchNorm& p, V mean_, int64_t c) : mean(mean_) {
    if constexpr (A::kTakesResult) {
      scale = V(p.scale.const_data_ptr<R>()[c]);
      shift = p.bias.defined() ? V(p.bias.const_data_ptr<R>()[c]) : shift;
    }
  }
  VEC_INLINE V operator()(V g, V centered) const {
    return A::grad(g, centered * scale + shift);
  }
};

/// Of each channel: the sums of g and of g * (x - mean), from which all gradients follow.
struct GradSums {
  std::vector<double> sums, dots;
};

template <class T, class A>
void plane_grad_sums(const BatchNorm& p, int64_t begin, int64_t end, GradSums& found) {
  using V = typename Lanes<T>::V;
  using R = typename Lanes<T>::R;
  const T *x = p.input.const_data_ptr<T>(), *g = p.grad.const_data_ptr<T>();
  T* const kept = A::kIsKept ? p.grad_input.mutable_data_ptr<T>() : nullptr;
  for (int64_t c = begin; c < end; ++c) {
    const V mean(static_cast<R>(p.mean.const_data_ptr<double>()[c]));
    const Unactivated<T, A> unactivated(p, mean, c);
    for (int64_t n = 0; n < p.batch; ++n) {
      const int64_t plane = (n * p.channels + c) * p.spatial;
      for (int64_t at = plane; at < plane + p.spatial; at += kBlock) {
        V sum(R(0)), dot(R(0));
        for_lanes<T>(std::min(kBlock, plane + p.spatial - at), [&](int64_t i, auto run) {
          const V d = load_run(x + at + i, run) - mean, gv = unactivated(load_run(g + at + i, run), d);
          if constexpr (A::kIsKept) {
            store_run<T>(gv, kept + at + i, run);
          }
          sum += gv;
          dot += gv * d;
        });
        found.sums[c] += static_cast<double>(vec::reduce_add(sum));
        found.dots[c] += static_cast<double>(vec::reduce_add(dot));
      }
    }
  }
}

template <class T, class A>
void pixel_grad_sums(const BatchNorm& p, int64_t begin, int64_t end, GradSums& found) {
  using V = typename Lanes<T>::V;
  using R = typename Lanes<T>::R;
  constexpr int64_t kPixels = 256, kSize = Lanes<T>::kSize;
  const T *x = p.input.const_data_ptr<T>(), *g = p.grad.const_data_ptr<T>();
  T* const kept = A::kIsKept ? p.grad_input.mutable_data_ptr<T>() : nullptr;
  const int64_t width = end - begin, pixels = p.batch * p.spatial, columns = (width + kSize - 1) / kSize;
  std::vector<R> sum(width), dot(width), mean(width);
  for (int64_t c = 0; c < width; ++c) {
    mean[c] = static_cast<R>(p.mean.const_data_ptr<double>()[begin + c]);
  }
  for (int64_t at = 0; at < pixels; at += kPixels) {
    std::vector<Chains<V>> sums(columns), dots(columns);
    for_blocks<T>(std::min(kPixels, pixels - at), width, [&](int64_t pixel, int64_t n, int64_t c, auto run) {
      const V center = load_run<R>(mean.data() + c, run);
      const Unactivated<T, A> unactivated(p, center, begin + c, run);
      Chains<V> sum_of = sums[c / kSize], dot_of = dots[c / kSize];
      for_chains(n, [&](int64_t i, int k) {
        const int64_t place = (at + pixel + i) * p.channels + begin + c;
        const V d = load_run(x + place, run) - center, gv = unactivated(load_run(g + place, run), d);
        if constexpr (A::kIsKept) {
          store_run<T>(gv, kept + place, run);
        }
        sum_of.part[k] += gv;
        dot_of.part[k] += gv * d;
      });
      sums[c / kSize] = sum_of;
      dots[c / kSize] = dot_of;
    });
    for_lanes<T>(width, [&](int64_t c, auto run) {
      store_run<R>(sums[c / kSize].total(), sum.data() + c, run);
      store_run<R>(dots[c / kSize].total(), dot.data() + c, run);
    });
    for (int64_t c = 0; c < width; ++c) {
      found.sums[begin + c] += static_cast<double>(sum[c]);
      found.dots[begin + c] += static_cast<double>(dot[c]);
    }
  }
}

template <class T, class A>
GradSums grad_sums(const BatchNorm& p) {
  GradSums found{std::vector<double>(p.channels), std::vector<double>(p.channels)};
  for_channels(p, [&](int64_t begin, int64_t end) {
    (p.channels_last ? pixel_grad_sums<T, A> : plane_grad_sums<T, A>)(p, begin, end, found);
  });
  return found;
}

/// dx = g * scale + ((x - mean) * slope + shift), the last two only where the statistics depend on x. Compiled graphs
/// compute it in this order too.
template <class R>
struct GradTerms {
  std::vector<R> mean, scale, slope, shift;
};

/// Of them the gradients of weight and bias are written as well.
template <class T>
GradTerms<at::opmath_type<T>> grad_terms(const BatchNorm& p, const GradSums& found) {
  using R = at::opmath_type<T>;
  GradTerms<R> terms{
      std::vector<R>(p.channels), std::vector<R>(p.channels), std::vector<R>(p.channels), std::vector<R>(p.channels)};
  const double *means = p.mean.const_data_ptr<double>(), *variances = p.variance.const_data_ptr<double>();
  const double count = static_cast<double>(p.batch * p.spatial);
  const TensorBase& like = p.weight.defined() ? p.weight : p.grad_weight.defined() ? p.grad_weight : p.grad_bias;
  with_weight_type<T>(like, [&]<class P> {
    const P* weight = data_or_null<P>(p.weight);
    for (int64_t c = 0; c < p.channels; ++c) {
      const double invstd = reciprocal_deviation(variances[c], p.eps),
                   scale = invstd * (weight ? static_cast<double>(weight[c]) : 1);
      terms.mean[c] = static_cast<R>(means[c]);
      terms.scale[c] = static_cast<R>(scale);
      terms.slope[c] = p.train ? static_cast<R>(-scale * found.dots[c] * invstd * invstd / count) : R(0);
      terms.shift[c] = p.train ? static_cast<R>(-scale * found.sums[c] / count) : R(0);
      if (p.grad_weight.defined()) {
        p.grad_weight.mutable_data_ptr<P>()[c] = static_cast<P>(found.dots[c] * invstd);
      }
      if (p.grad_bias.defined()) {
        p.grad_bias.mutable_data_ptr<P>()[c] = static_cast<P>(found.sums[c]);
      }
    }
  });
  const auto give = [](const std::vector<R>& from, const TensorBase& to) {
    if (to.defined()) {
      std::copy(from.begin(), from.end(), to.mutable_data_ptr<R>());
    }
  };
  give(terms.scale, p.grad_scale);
  give(terms.slope, p.grad_slope);
  give(terms.shift, p.grad_shift);
  return terms;
}

template <class T, class A>
void write_grad_input(const BatchNorm& p, const GradTerms<at::opmath_type<T>>& terms) {
  using V = typename Lanes<T>::V;
  using R = typename Lanes<T>::R;
  using Given = Unactivated<T, std::conditional_t<A::kIsKept, NoActivation, A>>;
  T* dx = p.grad_input.mutable_data_ptr<T>();
  const T *x = p.input.const_data_ptr<T>(), *g = A::kIsKept ? dx : p.grad.const_data_ptr<T>();
  if (p.channels_last) {
    return for_columns<T>(p, [&](int64_t at, int64_t count, int64_t c, auto run) {
      const V mean = load_run<R>(terms.mean.data() + c, run), scale = load_run<R>(terms.scale.data() + c, run),
              shift = load_run<R>(terms.shift.data() + c, run), slope = load_run<R>(terms.slope.data() + c, run);
      const Given given(p, mean, c, run);
      for (int64_t i = at; i < at + count * p.channels; i += p.channels) {
        const V d = load_run(x + i, run) - mean, gv = given(load_run(g + i, run), d);
        store_run<T>(gv * scale + (d * slope + shift), dx + i, run);
      }
    });
  }
  for_planes(p, [&](int64_t at, int64_t count, int64_t c) {
    const V mean(terms.mean[c]), scale(terms.scale[c]), shift(terms.shift[c]), slope(terms.slope[c]);
    const Given given(p, mean, c);
    for_lanes<T>(count, [&](int64_t i, auto run) {
      const V d = load_run(x + at + i, run) - mean, gv = given(load_run(g + at + i, run), d);
      store_run<T>(gv * scale + (d * slope + shift), dx + at + i, run);
    });
  });
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
    with_activation<T>(p, [&]<class A> {
      const GradSums sums = grad_sums<T, A>(p);
      const GradTerms<at::opmath_type<T>> terms = grad_terms<T>(p, sums);
      if (p.grad_input.defined()) {
        write_grad_input<T, A>(p, terms);
      }
    });
  });
}

} // namespace CPU_CAPABILITY
} // namespace at::native
