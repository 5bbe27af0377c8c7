// Dropout: the mask is drawn where it is applied.
#include <aten/native/cuda/dropout.h>

#include <aten/cuda/PhiloxUtils.cuh>
#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <c10/cuda/CUDAException.h>

#include <curand_kernel.h>

#include <algorithm>

namespace at::native::cuda {

namespace {

constexpr int kDropoutThreads = 256;
constexpr int kDraws = 4; // of one call of the generator

template <class T>
struct DropoutArrays {
  const T* in;
  T* out;
  bool* mask;
  std::int64_t n;
  opmath_type<T> scale;

  template <int K>
  __device__ void apply(std::int64_t i, const bool (&kept)[K]) const {
    const auto elements = *reinterpret_cast<const Aligned<T, K>*>(in + i);
    Aligned<T, K> made;
    Aligned<bool, K> kept_here;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      kept_here.values[k] = kept[k];
      made.values[k] = narrow<T>(widen(elements.values[k]) * opmath_type<T>(kept[k]) * scale);
    }
    *reinterpret_cast<Aligned<T, K>*>(out + i) = made;
    *reinterpret_cast<Aligned<bool, K>*>(mask + i) = kept_here;
  }
};

// A thread reads K elements at once, 4 or 2; n is a multiple of K.
template <class T, int K>
__global__ void __launch_bounds__(kDropoutThreads)
    dropout_side_by_side(DropoutArrays<T> a, opmath_type<T> keep, PhiloxCudaState philox) {
  const auto [seed, offset] = at::cuda::philox::unpack(philox);
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * kDropoutThreads + threadIdx.x;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kDropoutThreads * K;
  curandStatePhilox4_32_10_t state;
  curand_init(seed, thread, offset, &state);
  float4 drawn{};
  int used = kDraws;
  for (std::int64_t i = thread * K; i < a.n; i += step) {
    if (used == kDraws) {
      drawn = curand_uniform4(&state);
      used = 0;
    }
    bool kept[K];
#pragma unroll
    for (int k = 0; k < K; ++k) {
      kept[k] = (K == kDraws || used == 0 ? (&drawn.x)[k] : (&drawn.z)[k]) < keep;
    }
    used += K;
    a.apply(i, kept);
  }
}

// Elements of a thread lie a grid apart.
template <class T>
__global__ void __launch_bounds__(kDropoutThreads)
    dropout_each(DropoutArrays<T> a, opmath_type<T> keep, PhiloxCudaState philox) {
  const auto [seed, offset] = at::cuda::philox::unpack(philox);
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * kDropoutThreads + threadIdx.x;
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * kDropoutThreads;
  curandStatePhilox4_32_10_t state;
  curand_init(seed, thread, offset, &state);
  for (std::int64_t first = thread; first < a.n; first += threads * kDraws) {
    const float4 drawn = curand_uniform4(&state);
#pragma unroll
    for (int k = 0; k < kDraws; ++k) {
      if (const std::int64_t i = first + k * threads; i < a.n) {
        const bool kept[1] = {(&drawn.x)[k] < keep};
        a.apply(i, kept);
      }
    }
  }
}

template <class T, int K>
__global__ void __launch_bounds__(kDropoutThreads) scale_masked(DropoutArrays<T> a) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kDropoutThreads * K;
  for (std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * kDropoutThreads + threadIdx.x) * K; i < a.n;
       i += step) {
    const auto elements = *reinterpret_cast<const Aligned<T, K>*>(a.in + i);
    const auto kept = *reinterpret_cast<const Aligned<bool, K>*>(a.mask + i);
    Aligned<T, K> made;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      made.values[k] = narrow<T>(widen(elements.values[k]) * opmath_type<T>(kept.values[k]) * a.scale);
    }
    *reinterpret_cast<Aligned<T, K>*>(a.out + i) = made;
  }
}

template <class T>
DropoutArrays<T> arrays_of(const Dropout& p) {
  return {static_cast<const T*>(p.in), static_cast<T*>(p.out), p.mask, p.n, static_cast<opmath_type<T>>(p.scale)};
}

/// How many elements a thread may read at once: 4, 2 or 1.
template <class T>
int elements_at_once(const Dropout& p) {
  for (const int k : {4, 2}) {
    const std::size_t bytes = k * sizeof(T) > 16 ? 16 : k * sizeof(T);
    const auto begins = [](const void* data, std::size_t alignment) {
      return reinterpret_cast<std::uintptr_t>(data) % alignment == 0;
    };
    if (p.n % k == 0 && begins(p.in, bytes) && begins(p.out, bytes) && begins(p.mask, static_cast<std::size_t>(k))) {
      return k;
    }
  }
  return 1;
}

} // namespace

void launch_dropout(const Dropout& p, double keep, PhiloxCudaState philox, unsigned blocks) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    const auto arrays = arrays_of<T>(p);
    const auto kept = static_cast<opmath_type<T>>(keep);
    switch (elements_at_once<T>(p)) {
      case 4:
        dropout_side_by_side<T, 4><<<blocks, kDropoutThreads, 0, p.stream>>>(arrays, kept, philox);
        break;
      case 2:
        dropout_side_by_side<T, 2><<<blocks, kDropoutThreads, 0, p.stream>>>(arrays, kept, philox);
        break;
      default:
        dropout_each<T><<<blocks, kDropoutThreads, 0, p.stream>>>(arrays, kept, philox);
        break;
    }
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

void launch_masked_scale(const Dropout& p) {
  constexpr std::int64_t kMostBlocks = 4096;
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    const bool wide = elements_at_once<T>(p) == 4;
    const std::int64_t threads = wide ? p.n / 4 : p.n;
    const auto blocks = static_cast<unsigned>(std::min((threads + kDropoutThreads - 1) / kDropoutThreads, kMostBlocks));
    if (wide) {
      scale_masked<T, 4><<<blocks, kDropoutThreads, 0, p.stream>>>(arrays_of<T>(p));
    } else {
      scale_masked<T, 1><<<blocks, kDropoutThreads, 0, p.stream>>>(arrays_of<T>(p));
    }
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace at::native::cuda
