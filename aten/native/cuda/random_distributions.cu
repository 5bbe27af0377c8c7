#include <aten/native/cuda/random_distributions.h>

#include <aten/cuda/PhiloxUtils.cuh>
#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/random/distributions.h>
#include <c10/cuda/CUDAException.h>

#include <curand_kernel.h>

#include <algorithm>
#include <limits>
#include <type_traits>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 65536;

// The numbers of one element. Single precision for all dtypes, as in PyTorch.
struct DeviceDraws {
  __device__ float uniform() {
    return curand_uniform(&state);
  }
  __device__ float normal() {
    return curand_normal(&state);
  }
  curandStatePhilox4_32_10_t state;
};

template <class T>
struct PoissonEach {
  __device__ T operator()(DeviceDraws& draws, std::int64_t i) const {
    const auto lambda = widen(rate[i]);
    if (!(lambda >= 0)) {
      return narrow<T>(lambda != lambda ? lambda : decltype(lambda)(0));
    }
    return c10::convert<T>(curand_poisson(&draws.state, static_cast<double>(lambda)));
  }
  const T* rate;
};

template <class T>
struct GammaEach {
  __device__ T operator()(DeviceDraws& draws, std::int64_t i) const {
    using R = opmath_type<T>;
    const T least = std::numeric_limits<T>::min();
    const R drawn = gamma_sample<R>(draws, widen(alpha[i]));
    return widen(least) > drawn ? least : narrow<T>(drawn);
  }
  const T* alpha;
};

template <class T>
struct BinomialEach {
  __device__ T operator()(DeviceDraws& draws, std::int64_t i) const {
    using R = opmath_type<T>;
    return narrow<T>(binomial_sample<R>(draws, widen(count[i]), widen(prob[i])));
  }
  const T* count;
  const T* prob;
};

template <class T, class Sampler>
__global__ void __launch_bounds__(kThreads)
    sample_each(T* out, std::int64_t n, PhiloxCudaState philox, Sampler sampler) {
  const auto [seed, offset] = at::cuda::philox::unpack(philox);
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < n; i += step) {
    DeviceDraws draws;
    curand_init(seed, i, offset, &draws.state);
    out[i] = sampler(draws, i);
  }
}

template <class T, class Sampler>
void launch_each(const SampleEach& p, const Sampler& sampler) {
  const auto blocks = static_cast<unsigned>(std::min((p.n + kThreads - 1) / kThreads, kMostBlocks));
  sample_each<<<blocks, kThreads, 0, p.stream>>>(static_cast<T*>(p.out), p.n, p.philox, sampler);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace

void launch_poisson(const SampleEach& p) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    launch_each<T>(p, PoissonEach<T>{static_cast<const T*>(p.parameter)});
  });
}

void launch_gamma(const SampleEach& p) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    launch_each<T>(p, GammaEach<T>{static_cast<const T*>(p.parameter)});
  });
}

void launch_binomial(const SampleEach& p, const void* prob) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    launch_each<T>(p, BinomialEach<T>{static_cast<const T*>(p.parameter), static_cast<const T*>(prob)});
  });
}

} // namespace at::native::cuda
