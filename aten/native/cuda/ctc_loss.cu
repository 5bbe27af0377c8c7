// A block takes a sequence; its threads share the states of a step and wait for each other before the next.
#include <aten/native/cuda/ctc_loss.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <c10/cuda/CUDAException.h>

#include <limits>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

template <class T>
__device__ T no_path() {
  return -std::numeric_limits<T>::infinity();
}

/// Logarithm of the sum of exponentials; minus infinity stands for zero.
template <class T>
__device__ T log_sum(T a, T b, T c) {
  T top = a > b ? a : b;
  top = c > top ? c : top;
  return top == no_path<T>() ? top : ::log(::exp(a - top) + ::exp(b - top) + ::exp(c - top)) + top;
}

/// The states of one sequence.
struct States {
  const CtcLoss& p;
  std::int64_t sequence, steps, count;

  __device__ States(const CtcLoss& p, std::int64_t sequence)
      : p(p), sequence(sequence), steps(p.inputs[sequence]), count(2 * p.lengths[sequence] + 1) {}

  __device__ std::int64_t label(std::int64_t s) const {
    return s % 2 == 0 ? p.blank : p.labels[p.begins[sequence] + s / 2];
  }
  /// May a step lead from state s - 2 to s: not over a blank that keeps equal labels apart.
  __device__ bool may_skip(std::int64_t s) const {
    return s % 2 == 1 && s >= 3 && label(s) != label(s - 2);
  }
  template <class T>
  __device__ T log_prob(std::int64_t t, std::int64_t s) const {
    return static_cast<const T*>(p.log_probs)[(t * p.batch + sequence) * p.classes + label(s)];
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads) ctc_forward(CtcLoss p, T* loss, T* alpha) {
  const States states(p, blockIdx.x);
  alpha += blockIdx.x * p.steps * p.width;
  for (std::int64_t t = 0; t < p.steps; ++t) {
    T* now = alpha + t * p.width;
    for (std::int64_t s = threadIdx.x; s < p.width; s += kThreads) {
      T sum = no_path<T>();
      if (t < states.steps && s < states.count) {
        if (t == 0) {
          sum = s < 2 ? T(0) : sum;
        } else {
          const T* before = now - p.width;
          sum = log_sum(before[s], s > 0 ? before[s - 1] : sum, states.may_skip(s) ? before[s - 2] : sum);
        }
        sum += states.log_prob<T>(t, s);
      }
      now[s] = sum;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    const T* last = alpha + (states.steps - 1) * p.width;
    if (states.steps == 0) {
      loss[blockIdx.x] = states.count == 1 ? T(0) : -no_path<T>();
    } else {
      loss[blockIdx.x] =
          -log_sum(last[states.count - 1], states.count > 1 ? last[states.count - 2] : no_path<T>(), no_path<T>());
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) ctc_backward(CtcLoss p, T* beta) {
  const States states(p, blockIdx.x);
  beta += blockIdx.x * p.steps * p.width;
  for (std::int64_t t = states.steps - 1; t >= 0; --t) {
    T* now = beta + t * p.width;
    const T* after = now + p.width;
    for (std::int64_t s = threadIdx.x; s < states.count; s += kThreads) {
      const T none = no_path<T>();
      T sum = s >= states.count - 2 ? T(0) : none;
      if (t < states.steps - 1) {
        sum = log_sum(
            after[s], s + 1 < states.count ? after[s + 1] : none,
            s + 2 < states.count && states.may_skip(s + 2) ? after[s + 2] : none);
      }
      now[s] = sum + states.log_prob<T>(t, s);
    }
    __syncthreads();
  }
}

// A thread takes one step of one sequence. It first sums over the states of each class, in the place of the result.
template <class T>
__global__ void __launch_bounds__(kThreads) ctc_gradient(
    CtcLoss p, const T* grad, const T* losses, const T* alpha, const T* beta, bool zero_infinity, T* result) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= p.steps * p.batch) {
    return;
  }
  const std::int64_t t = i / p.batch;
  const States states(p, i - t * p.batch);
  const T loss = losses[states.sequence];
  T* to = result + i * p.classes;
  const bool given = t < states.steps && !(zero_infinity && loss == -no_path<T>());
  for (std::int64_t c = 0; c < p.classes; ++c) {
    to[c] = given ? no_path<T>() : T(0);
  }
  if (!given) {
    return;
  }
  const std::int64_t row = (states.sequence * p.steps + t) * p.width;
  for (std::int64_t s = 0; s < states.count; ++s) {
    T& sum = to[states.label(s)];
    sum = log_sum(sum, alpha[row + s] + beta[row + s], no_path<T>());
  }
  const T* log_probs = static_cast<const T*>(p.log_probs) + i * p.classes;
  for (std::int64_t c = 0; c < p.classes; ++c) {
    to[c] = (::exp(log_probs[c]) - ::exp(to[c] + loss - log_probs[c])) * grad[states.sequence];
  }
}

using CtcTypes = OneTypeOf<float, double>;

} // namespace

void launch_ctc_loss(const CtcLoss& p, void* loss, void* alpha) {
  CtcTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    ctc_forward<T>
        <<<static_cast<unsigned>(p.batch), kThreads, 0, p.stream>>>(p, static_cast<T*>(loss), static_cast<T*>(alpha));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_ctc_loss_backward(
    const CtcLoss& p,
    const void* grad,
    const void* loss,
    const void* alpha,
    void* beta,
    bool zero_infinity,
    void* result) {
  CtcTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    ctc_backward<T><<<static_cast<unsigned>(p.batch), kThreads, 0, p.stream>>>(p, static_cast<T*>(beta));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    ctc_gradient<T><<<blocks_of(p.steps * p.batch, kThreads), kThreads, 0, p.stream>>>(
        p, static_cast<const T*>(grad), static_cast<const T*>(loss), static_cast<const T*>(alpha),
        static_cast<const T*>(beta), zero_infinity, static_cast<T*>(result));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

} // namespace at::native::cuda
