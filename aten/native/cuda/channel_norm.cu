#include <aten/native/cuda/channel_norm.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/team.cuh>
#include <c10/cuda/CUDAException.h>

#include <algorithm>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kColumns = 32, kLanes = 8;

// ---- sums over channels ------------------------------------------------------------------------

/// Count, mean and sum of squared distances (Welford), joined as by Chan et al.
template <class R>
struct Moments;
template <class R>
__device__ Moments<R> join(const Moments<R>& a, const Moments<R>& b);

template <class R>
struct Moments {
  R count, mean, squares;

  /// Takes K elements from number `at * K` on.
  template <int K, class T>
  __device__ void take(const T* x, const T*, std::int64_t at, R) {
    const auto values = reinterpret_cast<const Aligned<T, K>*>(x)[at];
    if constexpr (K == 1) {
      const R value = widen(values.values[0]), before = value - mean;
      count += 1;
      mean += before / count;
      squares += before * (value - mean);
    } else {
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
  __device__ void take(const T* x, const T* g, std::int64_t at, R mean) {
    const auto values = reinterpret_cast<const Aligned<T, K>*>(x)[at], grads = reinterpret_cast<const Aligned<T, K>*>(g)[at];
#pragma unroll
    for (int k = 0; k < K; ++k) {
      const R grad = widen(grads.values[k]);
      sum += grad;
      moment += grad * (widen(values.values[k]) - mean);
    }
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

// A block takes a share of one channel, whose elements lie in runs of `inner`. K elements side by side count as one.
template <int K, class T, class Part, class R>
__global__ void __launch_bounds__(kThreads) reduce_runs(
    std::int64_t channels, std::uint32_t length, FastDivider inner, const T* x, const T* g, const R* means, Part* parts) {
  const std::uint32_t channel = blockIdx.x;
  const R mean = means != nullptr ? means[channel] : R(0);
  const std::int64_t run = inner.divisor;
  Part part{};
  for (std::uint32_t i = blockIdx.y * kThreads + threadIdx.x; i < length; i += gridDim.y * kThreads) {
    const std::uint32_t outer = inner.divide(i);
    part.template take<K>(x, g, (outer * channels + channel) * run + (i - outer * inner.divisor), mean);
  }
  part = Team<true>::reduce(part, Join());
  if (threadIdx.x == 0) {
    parts[blockIdx.y * channels + channel] = part;
  }
}

// Channels last: threads across are channels, threads down take rows in turn.
template <class T, class Part, class R>
__global__ void __launch_bounds__(kColumns* kLanes)
    reduce_columns(std::int64_t channels, std::int64_t rows, const T* x, const T* g, const R* means, Part* parts) {
  __shared__ alignas(16) char memory[kLanes * kColumns * sizeof(Part)];
  Part* const shared = reinterpret_cast<Part*>(memory);
  const std::int64_t channel = static_cast<std::int64_t>(blockIdx.x) * kColumns + threadIdx.x;
  Part part{};
  if (channel < channels) {
    const R mean = means != nullptr ? means[channel] : R(0);
    for (std::int64_t row = blockIdx.y * kLanes + threadIdx.y; row < rows; row += gridDim.y * kLanes) {
      part.template take<1>(x, g, row * channels + channel, mean);
    }
  }
  shared[threadIdx.y * kColumns + threadIdx.x] = part;
  __syncthreads();
  if (threadIdx.y != 0 || channel >= channels) {
    return;
  }
  for (int lane = 1; lane < kLanes; ++lane) {
    part = join(part, shared[lane * kColumns + threadIdx.x]);
  }
  parts[blockIdx.y * channels + channel] = part;
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

template <class Part, class R>
__global__ void __launch_bounds__(kThreads)
    join_parts(std::int64_t channels, int splits, const Part* parts, R* first, R* second) {
  const std::int64_t channel = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (channel >= channels) {
    return;
  }
  Part part = parts[channel];
  for (int split = 1; split < splits; ++split) {
    part = join(part, parts[split * channels + channel]);
  }
  store(part, channel, first, second);
}

bool is_aligned(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
}

template <int K, class T, class Part, class R>
void launch_runs(const Channels& p, int splits, const T* x, const T* g, const R* mean, Part* parts) {
  reduce_runs<K, T, Part, R><<<dim3(static_cast<unsigned>(p.channels), splits), kThreads, 0, p.stream>>>(
      p.channels, static_cast<std::uint32_t>(p.outer * p.inner / K), FastDivider(static_cast<std::uint32_t>(p.inner / K)), x, g, mean,
      parts);
}

template <class T, class Part, class R>
void reduce(
    const Channels& p, int splits, const T* x, const T* g, const void* means, void* parts_memory, void* first, void* second) {
  Part* const parts = static_cast<Part*>(parts_memory);
  const R* const mean = static_cast<const R*>(means);
  if (p.inner == 1) {
    reduce_columns<T, Part, R><<<dim3(blocks_of(p.channels, kColumns), splits), dim3(kColumns, kLanes), 0, p.stream>>>(
        p.channels, p.outer, x, g, mean, parts);
  } else {
    constexpr int kAtOnce = sizeof(T) == 8 ? 2 : 4;
    const bool at_once = p.inner % kAtOnce == 0 && is_aligned(x) && is_aligned(g);
    at_once ? launch_runs<kAtOnce>(p, splits, x, g, mean, parts) : launch_runs<1>(p, splits, x, g, mean, parts);
  }
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  join_parts<Part, R><<<blocks_of(p.channels, kThreads), kThreads, 0, p.stream>>>(
      p.channels, splits, parts, static_cast<R*>(first), static_cast<R*>(second));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

// ---- elements ----------------------------------------------------------------------------------

template <class R>
struct Factors {
  const R *mean, *factor, *offset, *g_factor;
};

// K elements to a thread: with channels last they belong to K channels, else to one.
template <int K, class T, class R>
__global__ void __launch_bounds__(kThreads) apply_affine(
    std::int64_t count, FastDivider channels, FastDivider inner, const T* x, const T* g, Factors<R> by, T* out) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (thread >= count) {
    return;
  }
  const auto run = inner.divide(static_cast<std::uint32_t>(thread * K));
  const std::uint32_t channel = run - channels.divide(run) * channels.divisor;
  const Aligned<T, K> values = reinterpret_cast<const Aligned<T, K>*>(x)[thread];
  Aligned<T, K> grads = {};
  if (g != nullptr) {
    grads = reinterpret_cast<const Aligned<T, K>*>(g)[thread];
  }
  Aligned<T, K> results;
#pragma unroll
  for (int k = 0; k < K; ++k) {
    const std::uint32_t c = channel + (inner.divisor == 1 ? k : 0);
    R y = (widen(values.values[k]) - by.mean[c]) * by.factor[c] + by.offset[c];
    if (g != nullptr) {
      y += widen(grads.values[k]) * by.g_factor[c];
    }
    results.values[k] = narrow<T>(y);
  }
  reinterpret_cast<Aligned<T, K>*>(out)[thread] = results;
}

template <int K, class T, class R>
void affine(const Channels& p, const T* x, const T* g, const Factors<R>& by, T* out) {
  const std::int64_t count = p.numel() / K;
  apply_affine<K, T, R><<<blocks_of(count, kThreads), kThreads, 0, p.stream>>>(
      count, FastDivider(static_cast<std::uint32_t>(p.channels)), FastDivider(static_cast<std::uint32_t>(p.inner)), x, g, by, out);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
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
  const std::int64_t blocks = p.inner == 1 ? (p.channels + kColumns - 1) / kColumns : p.channels;
  const std::int64_t work = p.inner == 1 ? p.outer / (4 * kLanes) : p.outer * p.inner / (8 * kThreads);
  const std::int64_t wanted = (std::int64_t{multiprocessors} * 4 + blocks - 1) / blocks;
  return static_cast<int>(std::clamp<std::int64_t>(std::min(work, wanted), 1, 256));
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
    constexpr int kVector = 16 / sizeof(T);
    const Factors<R> by{
        static_cast<const R*>(mean), static_cast<const R*>(factor), static_cast<const R*>(offset), static_cast<const R*>(g_factor)};
    const T *from = static_cast<const T*>(x), *grads = static_cast<const T*>(g);
    const bool whole = (p.inner == 1 ? p.channels : p.inner) % kVector == 0;
    if (whole && is_aligned(x) && is_aligned(g) && is_aligned(out)) {
      affine<kVector, T, R>(p, from, grads, by, static_cast<T*>(out));
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
