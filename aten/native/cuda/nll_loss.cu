#include <aten/native/cuda/nll_loss.h>

#include <aten/native/cuda/index_check.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/thread_group.cuh>
#include <aten/native/cuda/workspace.h>
#include <c10/cuda/CUDAException.h>

#include <algorithm>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;
// Of a block that sums up losses; how many such blocks there are at most, and of how many losses for each thread.
constexpr int kBlockThreads = 512, kMostParts = 256, kLossesEach = 8;

// The class of target i, or false if it is ignored or no class at all.
__device__ bool class_of(const NllLoss& p, std::int64_t i, std::int64_t& c) {
  c = p.byte_targets ? static_cast<const std::uint8_t*>(p.target)[i] : static_cast<const std::int64_t*>(p.target)[i];
  return c != p.ignore_index && check_index(p.check, c, i);
}

template <class T>
__device__ opmath_type<T> weight_of(const NllLoss& p, std::int64_t c) {
  return p.weight == nullptr ? opmath_type<T>(1) : widen(static_cast<const T*>(p.weight)[c]);
}

__device__ std::int64_t place_of(const NllLoss& p, std::int64_t i, std::int64_t c) {
  return (i / p.points * p.classes + c) * p.points + i % p.points;
}

template <class T>
__global__ void __launch_bounds__(kThreads) each_loss(NllLoss p, const T* scores, T* output) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= p.batch * p.points) {
    return;
  }
  std::int64_t c;
  using R = opmath_type<T>;
  output[i] = narrow<T>(class_of(p, i, c) ? -widen(scores[place_of(p, i, c)]) * weight_of<T>(p, c) : R(0));
}

struct Sums {
  double loss, weight;
  __device__ Sums operator+(const Sums& o) const {
    return {loss + o.loss, weight + o.weight};
  }
};

template <class T>
__device__ void finish(const NllLoss& p, const Sums& sums, T* output, T* total_weight) {
  using R = opmath_type<T>;
  *total_weight = narrow<T>(static_cast<R>(sums.weight));
  *output = narrow<T>(static_cast<R>(p.mean ? sums.loss / sums.weight : sums.loss));
}

// In double, and in an order of its own: the same result every time. Several blocks leave their sums in `parts`, which
// is null for one.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    reduced_loss(NllLoss p, const T* scores, Sums* parts, T* output, T* total_weight) {
  Sums sums{0, 0};
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kBlockThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kBlockThreads + threadIdx.x; i < p.batch * p.points;
       i += step) {
    std::int64_t c;
    if (class_of(p, i, c)) {
      const auto weight = weight_of<T>(p, c);
      sums.loss -= static_cast<double>(widen(scores[place_of(p, i, c)]) * weight);
      sums.weight += static_cast<double>(weight);
    }
  }
  sums = ThreadGroup<true>::reduce(sums, Add());
  if (threadIdx.x == 0) {
    if (parts != nullptr) {
      parts[blockIdx.x] = sums;
    } else {
      finish(p, sums, output, total_weight);
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kMostParts)
    join_losses(NllLoss p, const Sums* parts, unsigned count, T* output, T* total_weight) {
  const Sums sums = ThreadGroup<true>::reduce(threadIdx.x < count ? parts[threadIdx.x] : Sums{0, 0}, Add());
  if (threadIdx.x == 0) {
    finish(p, sums, output, total_weight);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    loss_gradient(NllLoss p, const T* grad, const T* total_weight, T* grad_input) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  std::int64_t c;
  if (i >= p.batch * p.points || !class_of(p, i, c)) {
    return;
  }
  auto g = widen(grad[p.each ? i : 0]);
  if (p.mean) {
    g /= widen(*total_weight);
  }
  grad_input[place_of(p, i, c)] = narrow<T>(-g * weight_of<T>(p, c));
}

unsigned blocks_of(const NllLoss& p) {
  return static_cast<unsigned>((p.batch * p.points + kThreads - 1) / kThreads);
}

template <class T>
void forward(const NllLoss& p, const void* scores, void* output, void* total_weight) {
  const T* from = static_cast<const T*>(scores);
  if (p.each) {
    each_loss<<<blocks_of(p), kThreads, 0, p.stream>>>(p, from, static_cast<T*>(output));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  } else {
    T *const to = static_cast<T*>(output), *const weight = static_cast<T*>(total_weight);
    const std::int64_t parts = std::min<std::int64_t>(p.batch * p.points / (kBlockThreads * kLossesEach), kMostParts);
    if (parts <= 1) {
      reduced_loss<<<1, kBlockThreads, 0, p.stream>>>(p, from, nullptr, to, weight);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
      return;
    }
    const auto blocks = static_cast<unsigned>(parts);
    const Workspace memory(blocks * sizeof(Sums), p.stream);
    Sums* const sums = static_cast<Sums*>(memory.data());
    reduced_loss<<<blocks, kBlockThreads, 0, p.stream>>>(p, from, sums, to, weight);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    join_losses<<<1, kMostParts, 0, p.stream>>>(p, sums, blocks, to, weight);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
}

template <class T>
void backward(const NllLoss& p, const void* grad, const void* total_weight, void* grad_input) {
  loss_gradient<<<blocks_of(p), kThreads, 0, p.stream>>>(
      p, static_cast<const T*>(grad), static_cast<const T*>(total_weight), static_cast<T*>(grad_input));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

// f(T()) for the dtype of the scores.
template <class F>
void with_type(c10::ScalarType dtype, F f) {
  switch (dtype) {
    case c10::ScalarType::Half:
      return f(c10::Half());
    case c10::ScalarType::BFloat16:
      return f(c10::BFloat16());
    case c10::ScalarType::Float:
      return f(float());
    default:
      return f(double());
  }
}

} // namespace

void launch_nll_loss(const NllLoss& p, const void* scores, void* output, void* total_weight) {
  with_type(p.dtype, [&](auto type) { forward<decltype(type)>(p, scores, output, total_weight); });
}

void launch_nll_loss_backward(const NllLoss& p, const void* grad, const void* total_weight, void* grad_input) {
  with_type(p.dtype, [&](auto type) { backward<decltype(type)>(p, grad, total_weight, grad_input); });
}

} // namespace at::native::cuda
