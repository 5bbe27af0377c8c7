// Normalization of rows, for layer_norm.cu and layer_norm_rms.cu: centered by the mean and divided by the deviation, or
// divided by the root of the mean square.
#pragma once

#include <aten/native/cuda/layer_norm.h>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/row.cuh>
#include <c10/cuda/CUDAException.h>

#include <type_traits>

namespace at::native::cuda {

namespace {

// K weights from number i on, which lie aligned. Null: all are `otherwise`.
template <int K, class R, class P, class I>
__device__ void load_weights(const P* weights, I i, R otherwise, R (&to)[K]) {
  if (weights != nullptr) {
    const auto some = load<K>(weights + i);
#pragma unroll
    for (int k = 0; k < K; ++k) {
      to[k] = static_cast<R>(widen(some.values[k]));
    }
  } else {
#pragma unroll
    for (int k = 0; k < K; ++k) {
      to[k] = otherwise;
    }
  }
}

// What rows have been scaled by is kept like the weights by layer norm, in the type that is computed in by RMS norm.
template <bool Centered, class T, class P>
using RowScale = std::conditional_t<Centered, P, opmath_type<T>>;

// Two passes over the row for mean and variance: the difference of squares would lose digits.
template <class Kind, bool Centered, class T, class P>
__global__ void __launch_bounds__(kMaxGroupThreads) normalize_rows(
    const T* x,
    const P* weight,
    const P* bias,
    T* y,
    P* means,
    RowScale<Centered, T, P>* rstds,
    std::int64_t rows,
    std::int64_t size,
    opmath_type<T> eps) {
  using R = opmath_type<T>;
  using ThreadGroup = ThreadGroup<Kind::kWholeBlock>;
  constexpr int K = Kind::kWidth;
  const std::int64_t row = ThreadGroup::row();
  if (row >= rows) {
    return;
  }
  const Row<Kind, T> in(x + row * size, size);
  y += row * size;
  R mean = 0;
  if constexpr (Centered) {
    R sum = 0;
    in.each([&](auto, const auto& values) {
#pragma unroll
      for (int k = 0; k < K; ++k) {
        sum += values[k];
      }
    });
    mean = ThreadGroup::reduce(sum, Add()) / static_cast<R>(size);
  }
  R squares = 0;
  in.each([&](auto, const auto& values) {
#pragma unroll
    for (int k = 0; k < K; ++k) {
      const R d = values[k] - mean;
      squares += d * d;
    }
  });
  const R rstd = R(1) / ::sqrt(ThreadGroup::reduce(squares, Add()) / static_cast<R>(size) + eps);
  in.each([&](auto i, const auto& values) {
    R factor[K], shift[K];
    load_weights(weight, i, R(1), factor);
    load_weights(Centered ? bias : nullptr, i, R(0), shift);
    store_each<T, K>(y + i, [&](int k) { return (values[k] - mean) * rstd * factor[k] + shift[k]; });
  });
  if (ThreadGroup::rank() == 0) {
    if constexpr (Centered) {
      means[row] = narrow<P>(mean);
    }
    rstds[row] = narrow<RowScale<Centered, T, P>>(rstd);
  }
}

// dx = rstd (w g - mean(w g) - xhat mean(w g xhat)); where rows are not centered the first mean falls away.
template <class R>
struct TwoSums {
  R g, gx;
  __device__ TwoSums operator+(const TwoSums& o) const {
    return {g + o.g, gx + o.gx};
  }
};

// The sums that weight_sums() left of each part of the rows, and the gradients that they are to become.
template <class P, class R>
struct WeightParts {
  const R *weight_parts, *bias_parts;
  P *weight, *bias;
  std::int64_t parts, size;
  int blocks; // of 32 columns each, first of the weight, then of the bias
};

// Adds up the sums of all parts in a fixed order; each lane of a warp has a column, warps take parts in turn.
template <class P, class R>
__device__ void join_weight_sums(const WeightParts<P, R>& sums, int block) {
  constexpr int kMostWarps = kMaxGroupThreads / 32;
  __shared__ R memory[kMostWarps][32];
  const int of_weight = sums.weight == nullptr ? 0 : static_cast<int>((sums.size + 31) / 32);
  const bool is_weight = block < of_weight;
  const R* const from = is_weight ? sums.weight_parts : sums.bias_parts;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const std::int64_t column = std::int64_t{is_weight ? block : block - of_weight} * 32 + lane;
  R sum = 0;
  if (column < sums.size) {
#pragma unroll 8
    for (std::int64_t part = warp; part < sums.parts; part += warps) {
      sum += from[part * sums.size + column];
    }
  }
  memory[warp][lane] = sum;
  __syncthreads();
  if (warp == 0 && column < sums.size) {
    for (int other = 1; other < warps; ++other) {
      sum += memory[other][lane];
    }
    (is_weight ? sums.weight : sums.bias)[column] = narrow<P>(sum);
  }
}

// The first blocks combine the sums of weights, which an earlier launch left: theirs is a launch spared. The others
// have the rows.
template <class Kind, bool Centered, class T, class P>
__global__ void __launch_bounds__(kMaxGroupThreads) backward_rows(
    const T* g,
    const T* x,
    const P* means,
    const RowScale<Centered, T, P>* rstds,
    const P* weight,
    T* dx,
    std::int64_t rows,
    std::int64_t size,
    WeightParts<P, opmath_type<T>> weight_parts) {
  using R = opmath_type<T>;
  using ThreadGroup = ThreadGroup<Kind::kWholeBlock>;
  constexpr int K = Kind::kWidth;
  if (static_cast<int>(blockIdx.x) < weight_parts.blocks) {
    join_weight_sums(weight_parts, static_cast<int>(blockIdx.x));
    return;
  }
  const std::int64_t row =
      ThreadGroup::row() - std::int64_t{weight_parts.blocks} * (Kind::kWholeBlock ? 1 : blockDim.x / 32);
  if (row >= rows) {
    return;
  }
  const Row<Kind, T> grads(g + row * size, size), in(x + row * size, size);
  dx += row * size;
  const R mean = Centered ? static_cast<R>(widen(means[row])) : R(0), rstd = widen(rstds[row]);
  TwoSums<R> sums{0, 0};
  grads.each(
      [&](auto i, const auto& grad, const auto& values) {
        R factor[K];
        load_weights(weight, i, R(1), factor);
#pragma unroll
        for (int k = 0; k < K; ++k) {
          const R weighted = grad[k] * factor[k];
          sums.g += weighted;
          sums.gx += weighted * ((values[k] - mean) * rstd);
        }
      },
      in);
  sums = ThreadGroup::reduce(sums, Add());
  const R mean_g = Centered ? sums.g / static_cast<R>(size) : R(0), mean_gx = sums.gx / static_cast<R>(size);
  grads.each(
      [&](auto i, const auto& grad, const auto& values) {
        R factor[K];
        load_weights(weight, i, R(1), factor);
        store_each<T, K>(dx + i, [&](int k) {
          const R xhat = (values[k] - mean) * rstd;
          return rstd * (grad[k] * factor[k] - mean_g - xhat * mean_gx);
        });
      },
      in);
}

constexpr int kSumThreads = 256;

// Sums of g xhat and, of layer norm, of g over the rows of one part. Threads across take K columns each, threads down
// take rows in turn.
template <int K, int Across, bool Centered, class T, class P>
__global__ void __launch_bounds__(kSumThreads) weight_sums(
    const T* g,
    const T* x,
    const P* means,
    const RowScale<Centered, T, P>* rstds,
    opmath_type<T>* weight,
    opmath_type<T>* bias,
    std::int64_t rows,
    std::int64_t size) {
  using R = opmath_type<T>;
  constexpr int kLanes = kSumThreads / Across, kColumns = Across * K, kSums = Centered ? 2 : 1;
  __shared__ R parts[kSums][kLanes][kColumns];
  const int across = threadIdx.x % Across, lane = threadIdx.x / Across;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * kColumns, column = begin + across * K;
  const std::int64_t first = rows * blockIdx.y / gridDim.y, last = rows * (blockIdx.y + 1) / gridDim.y;
  R dw[K] = {}, db[K] = {};
  if (column < size) {
#pragma unroll 2
    for (std::int64_t row = first + lane; row < last; row += kLanes) {
      const auto grads = load<K>(g + row * size + column), values = load<K>(x + row * size + column);
      const R mean = Centered ? static_cast<R>(widen(means[row])) : R(0), rstd = widen(rstds[row]);
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const R grad = widen(grads.values[k]);
        dw[k] += grad * ((widen(values.values[k]) - mean) * rstd);
        db[k] += grad;
      }
    }
  }
#pragma unroll
  for (int k = 0; k < K; ++k) {
    parts[0][lane][across * K + k] = dw[k];
    if constexpr (Centered) {
      parts[1][lane][across * K + k] = db[k];
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kSums * kColumns; i += kSumThreads) {
    const int which = i / kColumns, at = i % kColumns;
    R* const sums = which == 0 ? weight : bias;
    if (sums != nullptr && begin + at < size) {
      R sum = parts[which][0][at];
      for (int other = 1; other < kLanes; ++other) {
        sum += parts[which][other][at];
      }
      sums[blockIdx.y * size + begin + at] = sum;
    }
  }
}

template <int K, int Across, bool Centered, class T, class P>
void launch_weight_sums(const LayerNormBackward& p) {
  using R = opmath_type<T>;
  const dim3 blocks(static_cast<unsigned>((p.size + Across * K - 1) / (Across * K)), static_cast<unsigned>(p.parts));
  weight_sums<K, Across, Centered, T, P><<<blocks, kSumThreads, 0, p.stream>>>(
      static_cast<const T*>(p.grad), static_cast<const T*>(p.x), static_cast<const P*>(p.mean),
      static_cast<const RowScale<Centered, T, P>*>(p.rstd), static_cast<R*>(p.weight_parts),
      static_cast<R*>(p.bias_parts), p.rows, p.size);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

template <bool Centered, class T, class P>
void forward(const LayerNorm& p) {
  with_row_kind<T>(p.size, {p.x, p.y, p.weight, p.bias}, [&](auto kind) {
    using Kind = decltype(kind);
    normalize_rows<Kind, Centered, T, P><<<group_blocks(p.rows, p.size), group_threads(p.size), 0, p.stream>>>(
        static_cast<const T*>(p.x), static_cast<const P*>(p.weight), static_cast<const P*>(p.bias),
        static_cast<T*>(p.y), static_cast<P*>(p.mean), static_cast<RowScale<Centered, T, P>*>(p.rstd), p.rows, p.size,
        static_cast<opmath_type<T>>(p.eps));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

template <bool Centered, class T, class P>
void backward(const LayerNormBackward& p) {
  const T *g = static_cast<const T*>(p.grad), *x = static_cast<const T*>(p.x);
  const P* const means = static_cast<const P*>(p.mean);
  const auto* const rstds = static_cast<const RowScale<Centered, T, P>*>(p.rstd);
  WeightParts<P, opmath_type<T>> sums{
      static_cast<const opmath_type<T>*>(p.weight_parts),
      static_cast<const opmath_type<T>*>(p.bias_parts),
      static_cast<P*>(p.weight_grad),
      static_cast<P*>(p.bias_grad),
      p.parts,
      p.size,
      0};
  const int wanted = (p.weight_grad != nullptr ? 1 : 0) + (p.bias_grad != nullptr ? 1 : 0);
  if (wanted != 0) {
    sums.blocks = wanted * static_cast<int>((p.size + 31) / 32);
    constexpr int K = kRowWidth<T>;
    const bool wide = p.size % K == 0 && reinterpret_cast<std::uintptr_t>(p.grad) % 16 == 0 &&
        reinterpret_cast<std::uintptr_t>(p.x) % 16 == 0;
    wide ? launch_weight_sums<K, 8, Centered, T, P>(p) : launch_weight_sums<1, 32, Centered, T, P>(p);
  }
  const unsigned blocks = static_cast<unsigned>(sums.blocks) + (p.dx != nullptr ? group_blocks(p.rows, p.size) : 0);
  if (blocks != 0) {
    with_row_kind<T>(p.size, {p.grad, p.x, p.weight, p.dx}, [&](auto kind) {
      using Kind = decltype(kind);
      backward_rows<Kind, Centered, T, P><<<blocks, group_threads(p.size), 0, p.stream>>>(
          g, x, means, rstds, static_cast<const P*>(p.weight), static_cast<T*>(p.dx), p.rows, p.size, sums);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
  }
}

// f(T(), P()) for the dtypes of elements and parameters.
template <class F>
void with_types(c10::ScalarType dtype, c10::ScalarType param, F f) {
  const bool mixed = dtype != param;
  switch (dtype) {
    case c10::ScalarType::Half:
      return mixed ? f(c10::Half(), float()) : f(c10::Half(), c10::Half());
    case c10::ScalarType::BFloat16:
      return mixed ? f(c10::BFloat16(), float()) : f(c10::BFloat16(), c10::BFloat16());
    case c10::ScalarType::Float:
      return f(float(), float());
    default:
      return f(double(), double());
  }
}

} // namespace

} // namespace at::native::cuda
