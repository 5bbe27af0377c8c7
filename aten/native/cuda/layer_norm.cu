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

// Two passes over the row for mean and variance: the difference of squares would lose digits.
template <class Kind, class T, class P>
__global__ void __launch_bounds__(kMostTeamThreads) normalize_rows(
    const T* x, const P* weight, const P* bias, T* y, P* means, P* rstds, std::int64_t rows, std::int64_t size,
    opmath_type<T> eps) {
  using R = opmath_type<T>;
  using Team = Team<Kind::kWholeBlock>;
  constexpr int K = Kind::kWidth;
  const std::int64_t row = Team::row();
  if (row >= rows) {
    return;
  }
  const Row<Kind, T> in(x + row * size, size);
  y += row * size;
  R sum = 0;
  in.each([&](auto, const auto& values) {
#pragma unroll
    for (int k = 0; k < K; ++k) {
      sum += values[k];
    }
  });
  const R mean = Team::reduce(sum, Add()) / static_cast<R>(size);
  R squares = 0;
  in.each([&](auto, const auto& values) {
#pragma unroll
    for (int k = 0; k < K; ++k) {
      const R d = values[k] - mean;
      squares += d * d;
    }
  });
  const R rstd = R(1) / ::sqrt(Team::reduce(squares, Add()) / static_cast<R>(size) + eps);
  in.each([&](auto i, const auto& values) {
    R factor[K], shift[K];
    load_weights(weight, i, R(1), factor);
    load_weights(bias, i, R(0), shift);
    store_each<T, K>(y + i, [&](int k) { return (values[k] - mean) * rstd * factor[k] + shift[k]; });
  });
  if (Team::rank() == 0) {
    means[row] = narrow<P>(mean);
    rstds[row] = narrow<P>(rstd);
  }
}

// dx = rstd (w g - mean(w g) - xhat mean(w g xhat))
template <class R>
struct TwoSums {
  R g, gx;
  __device__ TwoSums operator+(const TwoSums& o) const {
    return {g + o.g, gx + o.gx};
  }
};

template <class Kind, class T, class P>
__global__ void __launch_bounds__(kMostTeamThreads) backward_rows(
    const T* g, const T* x, const P* means, const P* rstds, const P* weight, T* dx, std::int64_t rows, std::int64_t size) {
  using R = opmath_type<T>;
  using Team = Team<Kind::kWholeBlock>;
  constexpr int K = Kind::kWidth;
  const std::int64_t row = Team::row();
  if (row >= rows) {
    return;
  }
  const Row<Kind, T> grads(g + row * size, size), in(x + row * size, size);
  dx += row * size;
  const R mean = widen(means[row]), rstd = widen(rstds[row]);
  TwoSums<R> sums{0, 0};
  grads.each_with(in, [&](auto i, const auto& grad, const auto& values) {
    R factor[K];
    load_weights(weight, i, R(1), factor);
#pragma unroll
    for (int k = 0; k < K; ++k) {
      const R weighted = grad[k] * factor[k];
      sums.g += weighted;
      sums.gx += weighted * ((values[k] - mean) * rstd);
    }
  });
  sums = Team::reduce(sums, Add());
  const R mean_g = sums.g / static_cast<R>(size), mean_gx = sums.gx / static_cast<R>(size);
  grads.each_with(in, [&](auto i, const auto& grad, const auto& values) {
    R factor[K];
    load_weights(weight, i, R(1), factor);
    store_each<T, K>(dx + i, [&](int k) {
      const R xhat = (values[k] - mean) * rstd;
      return rstd * (grad[k] * factor[k] - mean_g - xhat * mean_gx);
    });
  });
}

constexpr int kColumns = 32, kLanes = 8;

// Sums of g xhat and of g over the rows of one part: threads across are columns, threads down take rows in turn.
template <class T, class P>
__global__ void __launch_bounds__(kColumns* kLanes) weight_sums(
    const T* g, const T* x, const P* means, const P* rstds, opmath_type<T>* weight, opmath_type<T>* bias,
    std::int64_t rows, std::int64_t size) {
  using R = opmath_type<T>;
  __shared__ R parts[2][kLanes][kColumns];
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kColumns + threadIdx.x;
  const std::int64_t first = rows * blockIdx.y / gridDim.y, last = rows * (blockIdx.y + 1) / gridDim.y;
  R dw = 0, db = 0;
  if (column < size) {
    for (std::int64_t row = first + threadIdx.y; row < last; row += kLanes) {
      const R grad = widen(g[row * size + column]);
      const R xhat = (widen(x[row * size + column]) - static_cast<R>(widen(means[row]))) * static_cast<R>(widen(rstds[row]));
      dw += grad * xhat;
      db += grad;
    }
  }
  parts[0][threadIdx.y][threadIdx.x] = dw;
  parts[1][threadIdx.y][threadIdx.x] = db;
  __syncthreads();
  if (threadIdx.y != 0 || column >= size) {
    return;
  }
  for (int lane = 1; lane < kLanes; ++lane) {
    dw += parts[0][lane][threadIdx.x];
    db += parts[1][lane][threadIdx.x];
  }
  const std::int64_t at = blockIdx.y * size + column;
  if (weight != nullptr) {
    weight[at] = dw;
  }
  if (bias != nullptr) {
    bias[at] = db;
  }
}

template <class T, class P>
void forward(const LayerNorm& p) {
  with_row_kind<T>(p.size, {p.x, p.y, p.weight, p.bias}, [&](auto kind) {
    using Kind = decltype(kind);
    normalize_rows<Kind, T, P><<<team_blocks(p.rows, p.size), team_threads(p.size), 0, p.stream>>>(
        static_cast<const T*>(p.x), static_cast<const P*>(p.weight), static_cast<const P*>(p.bias), static_cast<T*>(p.y),
        static_cast<P*>(p.mean), static_cast<P*>(p.rstd), p.rows, p.size, static_cast<opmath_type<T>>(p.eps));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

template <class T, class P>
void backward(const LayerNormBackward& p) {
  const T *g = static_cast<const T*>(p.grad), *x = static_cast<const T*>(p.x);
  const P *means = static_cast<const P*>(p.mean), *rstds = static_cast<const P*>(p.rstd);
  if (p.dx != nullptr) {
    with_row_kind<T>(p.size, {p.grad, p.x, p.weight, p.dx}, [&](auto kind) {
      using Kind = decltype(kind);
      backward_rows<Kind, T, P><<<team_blocks(p.rows, p.size), team_threads(p.size), 0, p.stream>>>(
          g, x, means, rstds, static_cast<const P*>(p.weight), static_cast<T*>(p.dx), p.rows, p.size);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
  }
  if (p.weight_sums != nullptr || p.bias_sums != nullptr) {
    using R = opmath_type<T>;
    const dim3 blocks(static_cast<unsigned>((p.size + kColumns - 1) / kColumns), static_cast<unsigned>(p.parts));
    weight_sums<T, P><<<blocks, dim3(kColumns, kLanes), 0, p.stream>>>(
        g, x, means, rstds, static_cast<R*>(p.weight_sums), static_cast<R*>(p.bias_sums), p.rows, p.size);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
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

void launch_layer_norm(const LayerNorm& p) {
  with_types(p.dtype, p.param, [&](auto t, auto w) { forward<decltype(t), decltype(w)>(p); });
}

void launch_layer_norm_backward(const LayerNormBackward& p) {
  with_types(p.dtype, p.param, [&](auto t, auto w) { backward<decltype(t), decltype(w)>(p); });
}

} // namespace at::native::cuda
