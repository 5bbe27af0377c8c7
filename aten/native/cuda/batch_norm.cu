#include <aten/native/cuda/batch_norm.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/thread_group.cuh>
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

/// Count, mean and sum of squared distances (Welford), combined as by Chan et al.
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

// Places of a channel whose elements lie in runs: number i is at i % run of run i / run. Steps instead of divisions, so
// that the numbers may be of any size.
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

template <class T, class R>
__device__ R number_at(const GivenNumbers& numbers, std::int64_t i, R otherwise) {
  if (numbers.data == nullptr) {
    return otherwise;
  }
  return numbers.narrow ? static_cast<R>(widen(static_cast<const T*>(numbers.data)[i]))
                        : static_cast<const R*>(numbers.data)[i];
}
template <class T, class R>
__device__ void put_number(const WantedNumbers& numbers, std::int64_t i, R value) {
  if (numbers.data == nullptr) {
    return;
  }
  if (numbers.narrow) {
    static_cast<T*>(numbers.data)[i] = narrow<T>(value);
  } else {
    static_cast<R*>(numbers.data)[i] = value;
  }
}
template <class T, class R>
__device__ void move_number(const WantedNumbers& numbers, std::int64_t i, R momentum, R towards) {
  const R before = number_at<T, R>({numbers.data, numbers.narrow}, i, R(0));
  put_number<T, R>(numbers, i, (1 - momentum) * before + momentum * towards);
}

template <class T, class R>
__device__ void finish(const Moments<R>& part, std::int64_t channel, const MomentsTo& to) {
  const R variance = part.squares / part.count;
  const R invstd = R(1) / ::sqrt(variance + static_cast<R>(to.eps));
  put_number<T, R>(to.mean, channel, part.mean);
  put_number<T, R>(to.invstd, channel, invstd);
  put_number<T, R>(to.variance, channel, variance);
  put_number<T, R>(to.save_mean, channel, part.mean);
  put_number<T, R>(to.save_invstd, channel, invstd);
  move_number<T, R>(to.running_mean, channel, static_cast<R>(to.momentum), part.mean);
  move_number<T, R>(to.running_var, channel, static_cast<R>(to.momentum), part.squares / (part.count - 1));
}

// With xhat = (x - mean) / deviation: dx = weight / deviation (g - mean(g) - xhat mean(g xhat)); the means fall away
// where the statistics do not depend on x.
template <class T, class R>
__device__ void finish(const Products<R>& part, std::int64_t channel, const SumsTo& to) {
  const WantedNumbers sum{to.sum}, moment{to.moment}, factor{to.factor}, offset{to.offset}, g_factor{to.g_factor};
  put_number<T, R>(sum, channel, part.sum);
  put_number<T, R>(moment, channel, part.moment);
  const R spread = number_at<T, R>(to.spread, channel, R(1));
  const R invstd = to.training ? spread : R(1) / ::sqrt(spread + static_cast<R>(to.eps));
  put_number<T, R>(to.grad_weight, channel, part.moment * invstd);
  put_number<T, R>(to.grad_bias, channel, part.sum);
  const R scale = number_at<T, R>(to.weight, channel, R(1)) * invstd, count = static_cast<R>(to.count);
  put_number<T, R>(g_factor, channel, scale);
  put_number<T, R>(factor, channel, to.training ? -scale * invstd * invstd * part.moment / count : R(0));
  put_number<T, R>(offset, channel, to.training ? -scale * part.sum / count : R(0));
}

// A block takes a share of one channel, whose elements lie in runs of `run`, all counted in vectors of K elements.
template <int K, class T, class Part, class R, class To>
__global__ void __launch_bounds__(kThreads) reduce_runs(
    std::int64_t channels,
    std::int64_t length,
    std::int64_t run,
    const T* x,
    const T* g,
    GivenNumbers means,
    std::int64_t width,
    Part* parts,
    To to) {
  using Vector = Aligned<T, K>;
  const std::int64_t channel = blockIdx.x, step = std::int64_t{gridDim.y} * kThreads;
  const R mean = number_at<T, R>(means, quotient(channel, width), R(0));
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
  part = ThreadGroup<true>::reduce(part, Join());
  if (threadIdx.x == 0) {
    if (gridDim.y == 1) {
      finish<T>(part, channel, to);
    } else {
      parts[blockIdx.y * channels + channel] = part;
    }
  }
}

// Channels last: threads across have K channels each, threads down take rows in turn.
template <int K, class T, class Part, class R, class To>
__global__ void __launch_bounds__(kThreads) reduce_columns(
    std::int64_t channels,
    std::int64_t rows,
    const T* x,
    const T* g,
    GivenNumbers means,
    std::int64_t width,
    Part* parts,
    To to) {
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
      mean[k] = number_at<T, R>(means, quotient(channel + k, width), R(0));
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
    if (gridDim.y == 1) {
      finish<T>(all, begin + threadIdx.x, to);
    } else {
      parts[blockIdx.y * channels + begin + threadIdx.x] = all;
    }
  }
}

// A warp for each channel.
template <class T, class Part, class To>
__global__ void __launch_bounds__(kThreads) join_parts(std::int64_t channels, int splits, const Part* parts, To to) {
  const std::int64_t channel = ThreadGroup<false>::row();
  if (channel >= channels) {
    return;
  }
  Part part{};
  for (int split = ThreadGroup<false>::rank(); split < splits; split += 32) {
    part = join(part, parts[split * channels + channel]);
  }
  part = ThreadGroup<false>::reduce(part, Join());
  if (ThreadGroup<false>::rank() == 0) {
    finish<T>(part, channel, to);
  }
}

bool are_aligned(const void* x, const void* g, std::size_t bytes) {
  return (reinterpret_cast<std::uintptr_t>(x) | reinterpret_cast<std::uintptr_t>(g)) % bytes == 0;
}

// Elements that are reduced, and the means that Products take off.
template <class T>
struct Reduced {
  const T *x, *g;
  GivenNumbers means;
  std::int64_t width;
};

template <int K, class R, class T, class Part, class To>
void launch_runs(const Channels& p, int splits, const Reduced<T>& in, Part* parts, const To& to) {
  reduce_runs<K, T, Part, R, To><<<dim3(static_cast<unsigned>(p.channels), splits), kThreads, 0, p.stream>>>(
      p.channels, p.outer * p.inner / K, p.inner / K, in.x, in.g, in.means, in.width, parts, to);
}

template <int K, class R, class T, class Part, class To>
void launch_columns(const Channels& p, int splits, const Reduced<T>& in, Part* parts, const To& to) {
  reduce_columns<K, T, Part, R, To><<<dim3(blocks_of(p.channels, kAcross<K> * K), splits), kThreads, 0, p.stream>>>(
      p.channels, p.outer, in.x, in.g, in.means, in.width, parts, to);
}

template <class T, class Part, class R, class To>
void reduce(const Channels& p, int splits, const Reduced<T>& in, void* parts_memory, const To& to) {
  constexpr int K = kVector<T>;
  // Images of 14 by 14 are whole numbers of 4 elements, but not of 8.
  constexpr int kHalf = K == 8 ? 4 : 1;
  Part* const parts = static_cast<Part*>(parts_memory);
  if (p.inner == 1) {
    const bool wide = p.channels % K == 0 && are_aligned(in.x, in.g, 16);
    wide ? launch_columns<K, R>(p, splits, in, parts, to) : launch_columns<1, R>(p, splits, in, parts, to);
  } else if (p.inner % K == 0 && are_aligned(in.x, in.g, 16)) {
    launch_runs<K, R>(p, splits, in, parts, to);
  } else if (p.inner % kHalf == 0 && are_aligned(in.x, in.g, kHalf * sizeof(T))) {
    launch_runs<kHalf, R>(p, splits, in, parts, to);
  } else {
    launch_runs<1, R>(p, splits, in, parts, to);
  }
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  if (splits > 1) {
    join_parts<T, Part, To>
        <<<blocks_of(p.channels, kThreads / 32), kThreads, 0, p.stream>>>(p.channels, splits, parts, to);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
}

// ---- elements ----------------------------------------------------------------------------------

// What is done to an element of a channel, of which a thread asks once: out = (x - mean) * factor + offset, and on the
// way back
// + g * g_factor.
template <class R>
struct OneChannel {
  R mean, factor, offset, g_factor;

  __device__ R operator()(R x, R g) const {
    return (x - mean) * factor + offset + g * g_factor;
  }
};

template <class T, class R>
struct ForwardFactors {
  static constexpr bool kReadsGradients = false;
  ChannelAffine by;
  bool grouped; // else each channel has statistics and weights of its own

  __device__ OneChannel<R> of(std::int64_t channel) const {
    const std::int64_t statistic = grouped ? quotient(channel, by.width) : channel;
    const std::int64_t parameter = grouped ? channel - quotient(channel, by.period) * by.period : channel;
    const R spread = number_at<T, R>(by.spread, statistic, R(1));
    const R invstd = by.spread_is_variance ? R(1) / ::sqrt(spread + static_cast<R>(by.eps)) : spread;
    return {
        number_at<T, R>(by.mean, statistic, R(0)), number_at<T, R>(by.weight, parameter, R(1)) * invstd,
        number_at<T, R>(by.bias, parameter, R(0)), R(0)};
  }
};

template <class T, class R>
struct BackwardFactors {
  static constexpr bool kReadsGradients = true;
  ChannelGradient by;

  __device__ OneChannel<R> of(std::int64_t channel) const {
    const auto at = [&](const void* array) { return static_cast<const R*>(array)[channel]; };
    const std::int64_t statistic = by.width == 1 ? channel : quotient(channel, by.width);
    return {number_at<T, R>(by.mean, statistic, R(0)), at(by.factor), at(by.offset), at(by.g_factor)};
  }
};

// K elements of channels number k * Step of `channels`, one for all where Step is 0.
template <int Step, int K, class T, class R>
__device__ Aligned<T, K> apply(const OneChannel<R>* channels, const Aligned<T, K>& values, const Aligned<T, K>& grads) {
  Aligned<T, K> results;
#pragma unroll
  for (int k = 0; k < K; ++k) {
    results.values[k] = narrow<T>(channels[k * Step](widen(values.values[k]), widen(grads.values[k])));
  }
  return results;
}

// K elements of one channel to a thread; `run` is a channel's run counted in such. Channels are counted from `first`
// on.
template <int K, class R, class T, class Factors>
__global__ void __launch_bounds__(kThreads) affine_runs(
    std::int64_t count,
    FastDivider channels,
    FastDivider run,
    std::int64_t first,
    const T* x,
    const T* g,
    Factors by,
    T* out) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (thread >= count) {
    return;
  }
  const std::uint32_t number = run.divide(static_cast<std::uint32_t>(thread));
  const std::uint32_t channel = number - channels.divide(number) * channels.divisor;
  using Vector = Aligned<T, K>;
  const Vector values = reinterpret_cast<const Vector*>(x)[thread];
  Vector grads = {};
  if constexpr (Factors::kReadsGradients) {
    grads = reinterpret_cast<const Vector*>(g)[thread];
  }
  const OneChannel<R> own = by.of(first + channel);
  reinterpret_cast<Vector*>(out)[thread] = apply<0>(&own, values, grads);
}

// Channels last: K channels to a thread, which takes some rows with the same factors.
template <int K, class R, class T, class Factors>
__global__ void __launch_bounds__(kThreads) affine_columns(
    std::int64_t channels, std::int64_t rows, unsigned blocks_across, const T* x, const T* g, Factors by, T* out) {
  using Vector = Aligned<T, K>;
  const unsigned line = blockIdx.x / blocks_across;
  const std::int64_t block = blockIdx.x - line * blocks_across;
  const std::int64_t channel = (block * kAcross<K> + threadIdx.x % kAcross<K>)*K;
  if (channel >= channels) {
    return;
  }
  // Counted in vectors: of addresses that are made of elements nvcc does not see that they are aligned, and splits the
  // stores.
  const std::int64_t first = std::int64_t{line} * (kBatch * kLanes<K>)+threadIdx.x / kAcross<K>;
  const std::int64_t width = channels / K, begin = first * width + channel / K;
  Vector values[kBatch] = {}, grads[kBatch] = {};
#pragma unroll
  for (int b = 0; b < kBatch; ++b) {
    if (first + b * kLanes<K> < rows) {
      values[b] = reinterpret_cast<const Vector*>(x)[begin + b * kLanes<K> * width];
      if constexpr (Factors::kReadsGradients) {
        grads[b] = reinterpret_cast<const Vector*>(g)[begin + b * kLanes<K> * width];
      }
    }
  }
  OneChannel<R> own[K];
#pragma unroll
  for (int k = 0; k < K; ++k) {
    own[k] = by.of(channel + k);
  }
#pragma unroll
  for (int b = 0; b < kBatch; ++b) {
    if (first + b * kLanes<K> < rows) {
      reinterpret_cast<Vector*>(out)[begin + b * kLanes<K> * width] = apply<1>(own, values[b], grads[b]);
    }
  }
}

// Elements of one launch, as 32-bit numbers of vectors allow.
constexpr std::int64_t kMostVectors = std::int64_t{1} << 30;

template <int K, class R, class T, class Factors>
void affine(const Channels& p, const T* x, const T* g, const Factors& by, T* out) {
  if (p.inner == 1) {
    const unsigned across = blocks_of(p.channels, kAcross<K> * K), down = blocks_of(p.outer, kBatch * kLanes<K>);
    affine_columns<K, R, T, Factors>
        <<<across * down, kThreads, 0, p.stream>>>(p.channels, p.outer, across, x, g, by, out);
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
      const std::int64_t own = std::min(channels, p.channels - c), at = (first * p.channels + c) * p.inner,
                         count = some * own * run;
      affine_runs<K, R, T, Factors><<<blocks_of(count, kThreads), kThreads, 0, p.stream>>>(
          count, FastDivider(static_cast<std::uint32_t>(own)), FastDivider(static_cast<std::uint32_t>(run)), c, x + at,
          g != nullptr ? g + at : nullptr, by, out + at);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
  }
}

template <class R, class T, class Factors>
void affine(const Channels& p, const void* x, const void* g, const Factors& by, void* out) {
  constexpr int K = kVector<T>;
  const bool whole = (p.inner == 1 ? p.channels : p.inner) % K == 0;
  const T *from = static_cast<const T*>(x), *grads = static_cast<const T*>(g);
  if (whole && are_aligned(x, g, 16) && are_aligned(out, nullptr, 16)) {
    affine<K, R>(p, from, grads, by, static_cast<T*>(out));
  } else {
    affine<1, R>(p, from, grads, by, static_cast<T*>(out));
  }
}

// ---- groups ----------------------------------------------------------------------------------------

// A warp for each group of each sample: dx = rstd (weight g - mean(weight g) - xhat mean(weight g xhat)).
template <class T, class R>
__global__ void __launch_bounds__(kThreads) group_factors(
    GroupNorm p,
    GivenNumbers rstd,
    GivenNumbers weight,
    const R* sum,
    const R* moment,
    R* factor,
    R* offset,
    R* g_factor) {
  const std::int64_t group = ThreadGroup<false>::row();
  if (group >= p.samples * p.groups) {
    return;
  }
  const R reciprocal = number_at<T, R>(rstd, group, R(1));
  const std::int64_t first = group * p.width, parameter = group % p.groups * p.width;
  Products<R> weighted{};
  for (std::int64_t i = ThreadGroup<false>::rank(); i < p.width; i += 32) {
    const R scale = number_at<T, R>(weight, parameter + i, R(1));
    weighted.sum += scale * sum[first + i];
    weighted.moment += scale * moment[first + i];
    g_factor[first + i] = scale * reciprocal;
  }
  weighted = ThreadGroup<false>::reduce(weighted, Join());
  const R share = R(1) / static_cast<R>(p.width * p.spatial);
  for (std::int64_t i = ThreadGroup<false>::rank(); i < p.width; i += 32) {
    factor[first + i] = -reciprocal * reciprocal * reciprocal * weighted.moment * share;
    offset[first + i] = -reciprocal * weighted.sum * share;
  }
}

// Threads across have a channel each, threads down take samples in turn.
constexpr int kWeightColumns = 32, kWeightLanes = 8;

template <class T, class R>
__global__ void __launch_bounds__(kWeightColumns* kWeightLanes) group_weights(
    GroupNorm p, GivenNumbers rstd, const R* sum, const R* moment, WantedNumbers grad_weight, WantedNumbers grad_bias) {
  __shared__ R memory[2][kWeightLanes][kWeightColumns];
  const int across = threadIdx.x % kWeightColumns, lane = threadIdx.x / kWeightColumns;
  const std::int64_t channels = p.groups * p.width,
                     channel = static_cast<std::int64_t>(blockIdx.x) * kWeightColumns + across;
  R for_weight = 0, for_bias = 0;
  if (channel < channels) {
    const std::int64_t group = quotient(channel, p.width);
#pragma unroll 4
    for (std::int64_t n = lane; n < p.samples; n += kWeightLanes) {
      for_weight += moment[n * channels + channel] * number_at<T, R>(rstd, n * p.groups + group, R(1));
      for_bias += sum[n * channels + channel];
    }
  }
  memory[0][lane][across] = for_weight;
  memory[1][lane][across] = for_bias;
  __syncthreads();
  if (lane == 0 && channel < channels) {
    for (int other = 1; other < kWeightLanes; ++other) {
      for_weight += memory[0][other][across];
      for_bias += memory[1][other][across];
    }
    put_number<T, R>(grad_weight, channel, for_weight);
    put_number<T, R>(grad_bias, channel, for_bias);
  }
}

} // namespace

int channel_splits(const Channels& p, int multiprocessors) {
  const std::int64_t vector = 16 / static_cast<std::int64_t>(c10::elementSize(p.dtype));
  const std::int64_t columns = p.channels % vector == 0 ? kAcross<2> * vector : kAcross<1>;
  const std::int64_t blocks = p.inner == 1 ? (p.channels + columns - 1) / columns : p.channels;
  const std::int64_t work = p.inner == 1 ? p.outer / (kBatch * kLanes<2>) : p.outer * p.inner / (4 * vector * kThreads);
  // Eight blocks fill a multiprocessor. Where the channels alone come to more than half of that, no second launch is
  // worth it.
  const std::int64_t wanted = std::int64_t{multiprocessors} * 8 / blocks;
  return static_cast<int>(std::clamp<std::int64_t>(std::min(work, wanted), 1, 1024));
}

void launch_channel_moments(const Channels& p, int splits, const void* x, void* parts, const MomentsTo& to) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    using R = opmath_type<T>;
    reduce<T, Moments<R>, R>(p, splits, Reduced<T>{static_cast<const T*>(x), nullptr, {}, 1}, parts, to);
  });
}

void launch_channel_sums(
    const Channels& p,
    int splits,
    const void* g,
    const void* x,
    GivenNumbers mean,
    std::int64_t width,
    void* parts,
    const SumsTo& to) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    using R = opmath_type<T>;
    reduce<T, Products<R>, R>(
        p, splits, Reduced<T>{static_cast<const T*>(x), static_cast<const T*>(g), mean, width}, parts, to);
  });
}

void launch_channel_affine(const Channels& p, const void* x, const ChannelAffine& by, void* out) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    using R = opmath_type<T>;
    affine<R, T>(p, x, nullptr, ForwardFactors<T, R>{by, by.width != 1 || by.period != p.channels}, out);
  });
}

void launch_channel_gradient(const Channels& p, const void* x, const void* g, const ChannelGradient& by, void* out) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    using R = opmath_type<T>;
    affine<R, T>(p, x, g, BackwardFactors<T, R>{by}, out);
  });
}

void launch_group_norm_factors(
    const GroupNorm& p,
    GivenNumbers rstd,
    GivenNumbers weight,
    const void* sum,
    const void* moment,
    void* factor,
    void* offset,
    void* g_factor) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    using R = opmath_type<T>;
    group_factors<T, R><<<blocks_of(p.samples * p.groups, kThreads / 32), kThreads, 0, p.stream>>>(
        p, rstd, weight, static_cast<const R*>(sum), static_cast<const R*>(moment), static_cast<R*>(factor),
        static_cast<R*>(offset), static_cast<R*>(g_factor));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_group_norm_weights(
    const GroupNorm& p,
    GivenNumbers rstd,
    const void* sum,
    const void* moment,
    WantedNumbers grad_weight,
    WantedNumbers grad_bias) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    using R = opmath_type<T>;
    group_weights<T, R><<<blocks_of(p.groups * p.width, kWeightColumns), kWeightColumns * kWeightLanes, 0, p.stream>>>(
        p, rstd, static_cast<const R*>(sum), static_cast<const R*>(moment), grad_weight, grad_bias);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

} // namespace at::native::cuda
