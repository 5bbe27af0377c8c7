#include <aten/native/cuda/channel_norm.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/team.cuh>
#include <c10/cuda/CUDAException.h>

#include <algorithm>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;
// With channels last: threads of a block across the channels, of which each has K side by side, and down the rows.
template <int K>
inline constexpr int kAcross = K == 1 ? 32 : 8;
template <int K>
inline constexpr int kLanes = kThreads / kAcross<K>;
// Reads of a thread that are under way together, of each operand.
constexpr int kBatch = 4;

template <class T>
inline constexpr int kVector = 16 / sizeof(T);

// ---- sums over channels ------------------------------------------------------------------------

/// Count, mean and sum of squared distances (Welford), joined as by Chan et al.
template <class R>
struct Moments;
template <class R>
__device__ Moments<R> join(const Moments<R>& a, const Moments<R>& b);

template <class R>
struct Moments {
  R count, mean, squares;

  /// Takes K elements of the channel.
  template <int K, class T>
  __device__ void take(const Aligned<T, K>& values, const Aligned<T, K>&, R) {
    R sum = 0, distances = 0;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      sum += widen(values.values[k]);
    }
    const R middle = sum / R(K);
#pragma unroll
    for (int k = 0; k < K; ++k) {
      const R distance = widen(values.values[k]) - middle;
      distances += distance * distance;
    }
    *this = join(*this, Moments{R(K), middle, distances});
  }
  /// Takes one, which is the last of 1 / share.
  __device__ void take_one(R value, R, R, R share) {
    const R before = value - mean;
    count += 1;
    mean += before * share;
    squares += before * (value - mean);
  }
};
template <class R>
__device__ Moments<R> join(const Moments<R>& a, const Moments<R>& b) {
  const R count = a.count + b.count;
  if (count == 0) {
    return a;
  }
  const R distance = b.mean - a.mean, share = b.count / count;
  return {count, a.mean + distance * share, a.squares + b.squares + distance * distance * a.count * share};
}

template <class R>
struct Products {
  R sum, moment;

  template <int K, class T>
  __device__ void take(const Aligned<T, K>& values, const Aligned<T, K>& grads, R mean) {
#pragma unroll
    for (int k = 0; k < K; ++k) {
      take_one(widen(values.values[k]), widen(grads.values[k]), mean, R(0));
    }
  }
  __device__ void take_one(R value, R grad, R mean, R) {
    sum += grad;
    moment += grad * (value - mean);
  }
};
template <class R>
__device__ Products<R> join(const Products<R>& a, const Products<R>& b) {
  return {a.sum + b.sum, a.moment + b.moment};
}

struct Join {
  template <class Part>
  __device__ Part operator()(const Part& a, const Part& b) const {
    return join(a, b);
  }
};

// Of 32-bit numbers as such: a division of 64-bit ones takes a hundred instructions.
__device__ inline std::int64_t quotient(std::int64_t a, std::int64_t b) {
  return ((a | b) >> 32) == 0 ? static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b) : a / b;
}

// Places of a channel whose elements lie in runs: number i is at i % run of run i / run. Steps instead of divisions, so that the
// numbers may be of any size.
struct RunWalk {
  std::int64_t run, gap; // elements of a run, and from the end of one to the next
  std::int64_t runs_of_step, rest_of_step;
  std::int64_t position, place;

  __device__ RunWalk(std::int64_t run, std::int64_t gap, std::int64_t first, std::int64_t step)
      : run(run), gap(gap), runs_of_step(quotient(step, run)), rest_of_step(step - runs_of_step * run) {
    const std::int64_t before = quotient(first, run);
    position = first - before * run;
    place = before * (run + gap) + position;
  }
  __device__ void advance() {
    position += rest_of_step;
    place += runs_of_step * (run + gap) + rest_of_step;
    if (position >= run) {
      position -= run;
      place += gap;
    }
  }
};

// A block takes a share of one channel, whose elements lie in runs of `run`, all counted in vectors of K elements.
template <int K, class T, class Part, class R>
__global__ void __launch_bounds__(kThreads) reduce_runs(
    std::int64_t channels, std::int64_t length, std::int64_t run, const T* x, const T* g, const R* means, Part* parts) {
  using Vector = Aligned<T, K>;
  const std::int64_t channel = blockIdx.x, step = std::int64_t{gridDim.y} * kThreads;
  const R mean = means != nullptr ? means[channel] : R(0);
  const auto* const values = reinterpret_cast<const Vector*>(x) + channel * run;
  const auto* const grads = g != nullptr ? reinterpret_cast<const Vector*>(g) + channel * run : nullptr;
  std::int64_t i = std::int64_t{blockIdx.y} * kThreads + threadIdx.x;
  RunWalk walk(run, (channels - 1) * run, i, step);
  Part part{};
  for (; i < length; i += kBatch * step) {
    Vector v[kBatch] = {}, w[kBatch] = {};
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      if (i + b * step < length) {
        v[b] = values[walk.place];
        if (grads != nullptr) {
          w[b] = grads[walk.place];
        }
      }
      walk.advance();
    }
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      if (i + b * step < length) {
        part.take(v[b], w[b], mean);
      }
    }
  }
  part = Team<true>::reduce(part, Join());
  if (threadIdx.x == 0) {
    parts[blockIdx.y * channels + channel] = part;
  }
}

// Channels last: threads across have K channels each, threads down take rows in turn.
template <int K, class T, class Part, class R>
__global__ void __launch_bounds__(kThreads)
    reduce_columns(std::int64_t channels, std::int64_t rows, const T* x, const T* g, const R* means, Part* parts) {
  using Vector = Aligned<T, K>;
  constexpr int kLines = kLanes<K>, kColumns = kAcross<K> * K;
  __shared__ alignas(16) char memory[kLines * kColumns * sizeof(Part)];
  Part* const shared = reinterpret_cast<Part*>(memory);
  const int across = threadIdx.x % kAcross<K>, lane = threadIdx.x / kAcross<K>;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * kColumns, channel = begin + across * K;
  Part part[K] = {};
  if (channel < channels) {
    R mean[K];
#pragma unroll
    for (int k = 0; k < K; ++k) {
      mean[k] = means != nullptr ? means[channel + k] : R(0);
    }
    R count = 0;
    const std::int64_t step = std::int64_t{gridDim.y} * kLanes<K>;
    for (std::int64_t row = std::int64_t{blockIdx.y} * kLines + lane; row < rows; row += kBatch * step) {
      Vector v[kBatch] = {}, w[kBatch] = {};
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        if (row + b * step < rows) {
          const std::int64_t at = (row + b * step) * channels + channel;
          v[b] = *reinterpret_cast<const Vector*>(x + at);
          if (g != nullptr) {
            w[b] = *reinterpret_cast<const Vector*>(g + at);
          }
        }
      }
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        if (row + b * step < rows) {
          count += 1;
          const R share = R(1) / count;
#pragma unroll
          for (int k = 0; k < K; ++k) {
            part[k].take_one(widen(v[b].values[k]), widen(w[b].values[k]), mean[k], share);
          }
        }
      }
    }
  }
#pragma unroll
  for (int k = 0; k < K; ++k) {
    shared[lane * kColumns + across * K + k] = part[k];
  }
  __syncthreads();
  if (threadIdx.x < kColumns && begin + threadIdx.x < channels) {
    Part all = shared[threadIdx.x];
    for (int other = 1; other < kLines; ++other) {
      all = join(all, shared[other * kColumns + threadIdx.x]);
    }
    parts[blockIdx.y * channels + begin + threadIdx.x] = all;
  }
}

template <class R>
__device__ void store(const Moments<R>& part, std::int64_t channel, R* mean, R* variance) {
  mean[channel] = part.mean;
  variance[channel] = part.squares / part.count;
}
template <class R>
__device__ void store(const Products<R>& part, std::int64_t channel, R* sum, R* moment) {
  sum[channel] = part.sum;
  moment[channel] = part.moment;
}

// A warp for each channel.
template <class Part, class R>
__global__ void __launch_bounds__(kThreads)
    join_parts(std::int64_t channels, int splits, const Part* parts, R* first, R* second) {
  const std::int64_t channel = Team<false>::row();
  if (channel >= channels) {
    return;
  }
  Part part{};
  for (int split = Team<false>::rank(); split < splits; split += 32) {
    part = join(part, parts[split * channels + channel]);
  }
  part = Team<false>::reduce(part, Join());
  if (Team<false>::rank() == 0) {
    store(part, channel, first, second);
  }
}

template <int K, class T, class Part, class R>
void launch_runs(const Channels& p, int splits, const T* x, const T* g, const R* mean, Part* parts) {
  reduce_runs<K, T, Part, R><<<dim3(static_cast<unsigned>(p.channels), splits), kThreads, 0, p.stream>>>(
      p.channels, p.outer * p.inner / K, p.inner / K, x, g, mean, parts);
}

template <int K, class T, class Part, class R>
void launch_columns(const Channels& p, int splits, const T* x, const T* g, const R* mean, Part* parts) {
  reduce_columns<K, T, Part, R><<<dim3(blocks_of(p.channels, kAcross<K> * K), splits), kThreads, 0, p.stream>>>(
      p.channels, p.outer, x, g, mean, parts);
}

bool are_aligned(const void* x, const void* g, std::size_t bytes) {
  return (reinterpret_cast<std::uintptr_t>(x) | reinterpret_cast<std::uintptr_t>(g)) % bytes == 0;
}

template <class T, class Part, class R>
void reduce(
    const Channels& p, int splits, const T* x, const T* g, const void* means, void* parts_memory, void* first, void* second) {
  constexpr int K = kVector<T>;
  // Images of 14 by 14 are whole numbers of 4 elements, but not of 8.
  constexpr int kHalf = K == 8 ? 4 : 1;
  Part* const parts = static_cast<Part*>(parts_memory);
  const R* const mean = static_cast<const R*>(means);
  if (p.inner == 1) {
    const bool wide = p.channels % K == 0 && are_aligned(x, g, 16);
    wide ? launch_columns<K>(p, splits, x, g, mean, parts) : launch_columns<1>(p, splits, x, g, mean, parts);
  } else if (p.inner % K == 0 && are_aligned(x, g, 16)) {
    launch_runs<K>(p, splits, x, g, mean, parts);
  } else if (p.inner % kHalf == 0 && are_aligned(x, g, kHalf * sizeof(T))) {
    launch_runs<kHalf>(p, splits, x, g, mean, parts);
  } else {
    launch_runs<1>(p, splits, x, g, mean, parts);
  }
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  join_parts<Part, R><<<blocks_of(p.channels, kThreads / 32), kThreads, 0, p.stream>>>(
      p.channels, splits, parts, static_cast<R*>(first), static_cast<R*>(second));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

// ---- elements ----------------------------------------------------------------------------------

template <class R>
struct Factors {
  const R *mean, *factor, *offset, *g_factor;
};

// The factors of K channels side by side, or of one for all K elements.
template <int K, class R>
struct ChannelFactors {
  R mean[K], factor[K], offset[K], g_factor[K];

  __device__ ChannelFactors(const Factors<R>& by, std::int64_t channel, bool one_for_all) {
#pragma unroll
    for (int k = 0; k < K; ++k) {
      const std::int64_t c = channel + (one_for_all ? 0 : k);
      mean[k] = by.mean[c];
      factor[k] = by.factor[c];
      offset[k] = by.offset[c];
      g_factor[k] = by.g_factor != nullptr ? by.g_factor[c] : R(0);
    }
  }
  template <class T>
  __device__ Aligned<T, K> apply(const Aligned<T, K>& values, const Aligned<T, K>& grads) const {
    Aligned<T, K> results;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      // Without gradients both are zero.
      results.values[k] = narrow<T>((widen(values.values[k]) - mean[k]) * factor[k] + offset[k] + widen(grads.values[k]) * g_factor[k]);
    }
    return results;
  }
};

// K elements of one channel to a thread; `run` is a channel's run counted in such.
template <int K, class T, class R>
__global__ void __launch_bounds__(kThreads) affine_runs(
    std::int64_t count, FastDivider channels, FastDivider run, const T* x, const T* g, Factors<R> by, T* out) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (thread >= count) {
    return;
  }
  const std::uint32_t number = run.divide(static_cast<std::uint32_t>(thread));
  const std::uint32_t channel = number - channels.divide(number) * channels.divisor;
  const ChannelFactors<K, R> factors(by, channel, /*one_for_all=*/true);
  using Vector = Aligned<T, K>;
  Vector grads = {};
  if (g != nullptr) {
    grads = reinterpret_cast<const Vector*>(g)[thread];
  }
  reinterpret_cast<Vector*>(out)[thread] = factors.apply(reinterpret_cast<const Vector*>(x)[thread], grads);
}

// Channels last: K channels to a thread, which takes some rows with the same factors.
template <int K, class T, class R>
__global__ void __launch_bounds__(kThreads) affine_columns(
    std::int64_t channels, std::int64_t rows, unsigned blocks_across, const T* x, const T* g, Factors<R> by, T* out) {
  using Vector = Aligned<T, K>;
  const unsigned line = blockIdx.x / blocks_across;
  const std::int64_t block = blockIdx.x - line * blocks_across;
  const std::int64_t channel = (block * kAcross<K> + threadIdx.x % kAcross<K>) * K;
  if (channel >= channels) {
    return;
  }
  // Counted in vectors: of addresses that are made of elements nvcc does not see that they are aligned, and splits the stores.
  const std::int64_t first = std::int64_t{line} * (kBatch * kLanes<K>) + threadIdx.x / kAcross<K>;
  const std::int64_t width = channels / K, begin = first * width + channel / K;
  Vector values[kBatch] = {}, grads[kBatch] = {};
#pragma unroll
  for (int b = 0; b < kBatch; ++b) {
    if (first + b * kLanes<K> < rows) {
      values[b] = reinterpret_cast<const Vector*>(x)[begin + b * kLanes<K> * width];
      if (g != nullptr) {
        grads[b] = reinterpret_cast<const Vector*>(g)[begin + b * kLanes<K> * width];
      }
    }
  }
  const ChannelFactors<K, R> factors(by, channel, /*one_for_all=*/false);
#pragma unroll
  for (int b = 0; b < kBatch; ++b) {
    if (first + b * kLanes<K> < rows) {
      reinterpret_cast<Vector*>(out)[begin + b * kLanes<K> * width] = factors.apply(values[b], grads[b]);
    }
  }
}

// Elements of one launch, as 32-bit numbers of vectors allow.
constexpr std::int64_t kMostVectors = std::int64_t{1} << 30;

template <int K, class T, class R>
void affine(const Channels& p, const T* x, const T* g, const Factors<R>& by, T* out) {
  if (p.inner == 1) {
    const unsigned across = blocks_of(p.channels, kAcross<K> * K), down = blocks_of(p.outer, kBatch * kLanes<K>);
    affine_columns<K, T, R><<<across * down, kThreads, 0, p.stream>>>(p.channels, p.outer, across, x, g, by, out);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return;
  }
  const std::int64_t run = p.inner / K, period = p.channels * run;
  const std::int64_t periods = std::max<std::int64_t>(kMostVectors / period, 1); // of one launch
  for (std::int64_t first = 0; first < p.outer; first += periods) {
    // A period that is too long by itself is cut between channels.
    const std::int64_t some = std::min(periods, p.outer - first);
    const std::int64_t channels = period <= kMostVectors ? p.channels : std::max<std::int64_t>(kMostVectors / run, 1);
    for (std::int64_t c = 0; c < p.channels; c += channels) {
      const std::int64_t own = std::min(channels, p.channels - c), at = (first * p.channels + c) * p.inner, count = some * own * run;
      const Factors<R> from{by.mean + c, by.factor + c, by.offset + c, by.g_factor != nullptr ? by.g_factor + c : nullptr};
      affine_runs<K, T, R><<<blocks_of(count, kThreads), kThreads, 0, p.stream>>>(
          count, FastDivider(static_cast<std::uint32_t>(own)), FastDivider(static_cast<std::uint32_t>(run)), x + at,
          g != nullptr ? g + at : nullptr, from, out + at);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
  }
}

// ---- from statistics to factors ------------------------------------------------------------------

template <class R>
__device__ R at_or(const void* array, std::int64_t i, R otherwise) {
  return array != nullptr ? static_cast<const R*>(array)[i] : otherwise;
}
template <class R>
__device__ R& number(void* array, std::int64_t i) {
  return static_cast<R*>(array)[i];
}

template <class R>
__global__ void __launch_bounds__(kThreads) batch_norm_forward(BatchNormForward p) {
  const std::int64_t c = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (c >= p.channels) {
    return;
  }
  const R mean = at_or<R>(p.mean, c, R(0)), variance = at_or<R>(p.variance, c, R(1));
  const R invstd = R(1) / ::sqrt(variance + static_cast<R>(p.eps));
  if (p.training) {
    const R momentum = static_cast<R>(p.momentum), count = static_cast<R>(p.count);
    number<R>(p.invstd, c) = invstd;
    if (p.running_mean != nullptr) {
      R& running = number<R>(p.running_mean, c);
      running = (1 - momentum) * running + momentum * mean;
    }
    if (p.running_var != nullptr) {
      R& running = number<R>(p.running_var, c);
      running = (1 - momentum) * running + momentum * (variance * (count / (count - 1)));
    }
  }
  if (p.factor != nullptr) {
    number<R>(p.factor, c) = at_or<R>(p.weight, c, R(1)) * invstd;
    number<R>(p.offset, c) = at_or<R>(p.bias, c, R(0));
  }
}

// With xhat = (x - mean) / deviation: dx = weight / deviation (g - mean(g) - xhat mean(g xhat)); the means fall away where
// the statistics do not depend on x.
template <class R>
__global__ void __launch_bounds__(kThreads) batch_norm_backward(BatchNormBackward p) {
  const std::int64_t c = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (c >= p.channels) {
    return;
  }
  const R spread = at_or<R>(p.spread, c, R(1));
  const R invstd = p.training ? spread : R(1) / ::sqrt(spread + static_cast<R>(p.eps));
  const R sum = at_or<R>(p.sum, c, R(0)), moment = at_or<R>(p.moment, c, R(0)), count = static_cast<R>(p.count);
  if (p.grad_weight != nullptr) {
    number<R>(p.grad_weight, c) = moment * invstd;
  }
  if (p.grad_bias != nullptr) {
    number<R>(p.grad_bias, c) = sum;
  }
  if (p.factor != nullptr) {
    const R scale = at_or<R>(p.weight, c, R(1)) * invstd;
    number<R>(p.g_factor, c) = scale;
    number<R>(p.factor, c) = p.training ? -scale * invstd * invstd * moment / count : R(0);
    number<R>(p.offset, c) = p.training ? -scale * sum / count : R(0);
  }
}

template <class R>
__global__ void __launch_bounds__(kThreads) group_norm_forward(
    GroupNorm p, const R* mean, const R* variance, const R* weight, const R* bias, R* rstd, R* channel_mean, R* factor, R* offset) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= p.samples * p.groups * p.width) {
    return;
  }
  const std::int64_t group = i / p.width, channel = i % (p.groups * p.width);
  const R reciprocal = R(1) / ::sqrt(variance[group] + static_cast<R>(p.eps));
  if (i % p.width == 0) {
    rstd[group] = reciprocal;
  }
  channel_mean[i] = mean[group];
  factor[i] = at_or<R>(weight, channel, R(1)) * reciprocal;
  offset[i] = at_or<R>(bias, channel, R(0));
}

template <class R>
__global__ void __launch_bounds__(kThreads) group_norm_means(GroupNorm p, const R* mean, R* channel_mean) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < p.samples * p.groups * p.width) {
    channel_mean[i] = mean[i / p.width];
  }
}

// A thread for each group of each sample: dx = rstd (weight g - mean(weight g) - xhat mean(weight g xhat)).
template <class R>
__global__ void __launch_bounds__(kThreads) group_norm_backward(
    GroupNorm p, const R* rstd, const R* weight, const R* sum, R* moment, R* factor, R* offset, R* g_factor) {
  const std::int64_t group = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (group >= p.samples * p.groups) {
    return;
  }
  const R reciprocal = rstd[group];
  const std::int64_t first = group * p.width, channel = group % p.groups * p.width;
  R mean_g = 0, mean_gx = 0;
  for (std::int64_t i = 0; i < p.width; ++i) {
    const R scale = at_or<R>(weight, channel + i, R(1));
    const R scaled = moment[first + i] * reciprocal;
    moment[first + i] = scaled;
    mean_g += scale * sum[first + i];
    mean_gx += scale * scaled;
    g_factor[first + i] = scale * reciprocal;
  }
  const R count = static_cast<R>(p.width * p.spatial);
  mean_g /= count;
  mean_gx /= count;
  for (std::int64_t i = 0; i < p.width; ++i) {
    factor[first + i] = -reciprocal * reciprocal * mean_gx;
    offset[first + i] = -reciprocal * mean_g;
  }
}

/// f(R()) for the type of statistics.
template <class F>
void with_statistic(bool is_double, F f) {
  is_double ? f(double()) : f(float());
}

} // namespace

int channel_splits(const Channels& p, int multiprocessors) {
  const std::int64_t vector = 16 / static_cast<std::int64_t>(c10::elementSize(p.dtype));
  const std::int64_t columns = p.channels % vector == 0 ? kAcross<2> * vector : kAcross<1>;
  const std::int64_t blocks = p.inner == 1 ? (p.channels + columns - 1) / columns : p.channels;
  const std::int64_t work = p.inner == 1 ? p.outer / (kBatch * kLanes<2>) : p.outer * p.inner / (4 * vector * kThreads);
  const std::int64_t wanted = (std::int64_t{multiprocessors} * 8 + blocks - 1) / blocks;
  return static_cast<int>(std::clamp<std::int64_t>(std::min(work, wanted), 1, 1024));
}

void launch_channel_moments(const Channels& p, int splits, const void* x, void* parts, void* mean, void* variance) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    using R = opmath_type<T>;
    const T* const none = nullptr;
    reduce<T, Moments<R>, R>(p, splits, static_cast<const T*>(x), none, nullptr, parts, mean, variance);
  });
}

void launch_channel_sums(
    const Channels& p, int splits, const void* g, const void* x, const void* mean, void* parts, void* sum, void* moment) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    using R = opmath_type<T>;
    reduce<T, Products<R>, R>(p, splits, static_cast<const T*>(x), static_cast<const T*>(g), mean, parts, sum, moment);
  });
}

void launch_channel_affine(
    const Channels& p, const void* x, const void* g, const void* mean, const void* factor, const void* offset,
    const void* g_factor, void* out) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    using R = opmath_type<T>;
    constexpr int K = kVector<T>;
    const Factors<R> by{
        static_cast<const R*>(mean), static_cast<const R*>(factor), static_cast<const R*>(offset), static_cast<const R*>(g_factor)};
    const T *from = static_cast<const T*>(x), *grads = static_cast<const T*>(g);
    const bool whole = (p.inner == 1 ? p.channels : p.inner) % K == 0;
    if (whole && are_aligned(x, g, 16) && are_aligned(out, nullptr, 16)) {
      affine<K, T, R>(p, from, grads, by, static_cast<T*>(out));
    } else {
      affine<1, T, R>(p, from, grads, by, static_cast<T*>(out));
    }
  });
}

void launch_batch_norm_forward(const BatchNormForward& p) {
  with_statistic(p.is_double, [&](auto type) {
    using R = decltype(type);
    batch_norm_forward<R><<<blocks_of(p.channels, kThreads), kThreads, 0, p.stream>>>(p);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_batch_norm_backward(const BatchNormBackward& p) {
  with_statistic(p.is_double, [&](auto type) {
    using R = decltype(type);
    batch_norm_backward<R><<<blocks_of(p.channels, kThreads), kThreads, 0, p.stream>>>(p);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_group_norm_forward(
    const GroupNorm& p, const void* mean, const void* variance, const void* weight, const void* bias, void* rstd,
    void* channel_mean, void* factor, void* offset) {
  with_statistic(p.is_double, [&](auto type) {
    using R = decltype(type);
    group_norm_forward<R><<<blocks_of(p.samples * p.groups * p.width, kThreads), kThreads, 0, p.stream>>>(
        p, static_cast<const R*>(mean), static_cast<const R*>(variance), static_cast<const R*>(weight), static_cast<const R*>(bias),
        static_cast<R*>(rstd), static_cast<R*>(channel_mean), static_cast<R*>(factor), static_cast<R*>(offset));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_group_norm_means(const GroupNorm& p, const void* mean, void* channel_mean) {
  with_statistic(p.is_double, [&](auto type) {
    using R = decltype(type);
    group_norm_means<R><<<blocks_of(p.samples * p.groups * p.width, kThreads), kThreads, 0, p.stream>>>(
        p, static_cast<const R*>(mean), static_cast<R*>(channel_mean));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_group_norm_backward(
    const GroupNorm& p, const void* rstd, const void* weight, const void* sum, void* moment, void* factor, void* offset,
    void* g_factor) {
  with_statistic(p.is_double, [&](auto type) {
    using R = decltype(type);
    group_norm_backward<R><<<blocks_of(p.samples * p.groups, kThreads), kThreads, 0, p.stream>>>(
        p, static_cast<const R*>(rstd), static_cast<const R*>(weight), static_cast<const R*>(sum), static_cast<R*>(moment),
        static_cast<R*>(factor), static_cast<R*>(offset), static_cast<R*>(g_factor));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

} // namespace at::native::cuda
