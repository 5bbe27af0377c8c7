// Samplers on a GPU, for .cu sources of programs: their generators have a mutex_ and philox_cuda_state(increment), as
// CUDAGeneratorImpl does. Note [The order of random numbers on CUDA] holds: a generator with the state of libtorch's
// gives its numbers.
#pragma once

#include <aten/core/OpMathType.h>
#include <aten/cuda/CUDAGeneratorImpl.h>
#include <aten/cuda/PhiloxUtils.cuh>
#include <aten/iterator/ExpandUtils.h>
#include <aten/iterator/TensorIterator.h>
#include <c10/cuda/CUDAException.h>
#include <csrc/compat/aten/AccumulateType.h>
#include <csrc/compat/aten/Dispatch.h>
#include <csrc/compat/aten/Dispatch_v2.h>
#include <csrc/compat/aten/core/DistributionsHelper.h>
#include <csrc/compat/aten/core/TransformationHelper.h>
#include <csrc/compat/aten/cuda/CUDAApplyUtils.cuh>
#include <csrc/compat/aten/cuda/CUDAContext.h>
#include <csrc/compat/aten/cuda/detail/OffsetCalculator.cuh>

#include <curand_kernel.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <tuple>
#include <type_traits>

namespace at::native {

namespace sampling {

inline constexpr int kThreads = 256;

/// How far the generator goes, and the blocks and threads that draw for `total_elements`, `unroll_factor` of a thread
/// at once.
inline std::tuple<uint64_t, dim3, dim3> execution_policy(int64_t total_elements, uint32_t unroll_factor) {
  const cudaDeviceProp* device = at::cuda::getCurrentDeviceProperties();
  const int64_t most = int64_t{device->multiProcessorCount} * (device->maxThreadsPerMultiProcessor / kThreads);
  const int64_t blocks = std::min(most, (total_elements + kThreads - 1) / kThreads);
  const int64_t draws = (total_elements - 1) / (kThreads * blocks * unroll_factor) + 1;
  return {static_cast<uint64_t>(draws) * 4, dim3(static_cast<unsigned>(blocks)), dim3(kThreads)};
}

/// Thread t draws from subsequence t; what it draws at once goes to elements that lie the whole grid apart.
template <class scalar_t, int AtOnce, class accscalar_t, class Draw, class Transform>
__global__ void __launch_bounds__(kThreads, 4) sample_kernel(
    int64_t n, PhiloxCudaState philox, char* out, OffsetCalculator<1> offsets, Draw draw, Transform transform) {
  const auto seed_and_offset = at::cuda::philox::unpack(philox);
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t threads = static_cast<int64_t>(gridDim.x) * blockDim.x;
  curandStatePhilox4_32_10_t state;
  curand_init(std::get<0>(seed_and_offset), thread, std::get<1>(seed_and_offset), &state);
  for (int64_t first = thread; first - thread < n; first += threads * AtOnce) {
    const auto drawn = draw(&state);
#pragma unroll
    for (int k = 0; k < AtOnce; ++k) {
      const int64_t i = first + threads * k;
      if (i < n) {
        *reinterpret_cast<scalar_t*>(out + offsets.get(static_cast<uint32_t>(i))[0]) =
            transform(static_cast<accscalar_t>((&drawn.x)[k]));
      }
    }
  }
}

template <class RNG>
PhiloxCudaState advance(RNG gen, uint64_t increment) {
  const std::lock_guard<std::mutex> lock(gen->mutex_);
  return gen->philox_cuda_state(increment);
}

// What a thread draws at once.
struct Uniform4 {
  __device__ float4 operator()(curandStatePhilox4_32_10_t* state) const {
    return curand_uniform4(state);
  }
};
struct Uniform2 {
  __device__ double2 operator()(curandStatePhilox4_32_10_t* state) const {
    return curand_uniform2_double(state);
  }
};
struct Normal4 {
  __device__ float4 operator()(curandStatePhilox4_32_10_t* state) const {
    return curand_normal4(state);
  }
};
struct Normal2 {
  __device__ double2 operator()(curandStatePhilox4_32_10_t* state) const {
    return curand_normal2_double(state);
  }
};
struct Bits4 {
  __device__ uint4 operator()(curandStatePhilox4_32_10_t* state) const {
    return curand4(state);
  }
};
struct Bits2 {
  __device__ ulonglong2 operator()(curandStatePhilox4_32_10_t* state) const {
    const uint4 bits = curand4(state);
    return {
        (static_cast<unsigned long long>(bits.x) << 32) | bits.y,
        (static_cast<unsigned long long>(bits.z) << 32) | bits.w};
  }
};

} // namespace sampling

/// Each element of the iterator's output is transform_func(a number), of those that dist_func(state) draws at once: a
/// dist_func_return_t such as float4, of which accscalar_t says how many numbers it holds.
template <class scalar_t, class accscalar_t, class dist_func_return_t, class RNG, class dist_t, class transform_t>
void distribution_nullary_kernel(
    TensorIteratorBase& iter, RNG gen, const dist_t& dist_func, const transform_t transform_func) {
  constexpr int kAtOnce = static_cast<int>(sizeof(dist_func_return_t) / sizeof(accscalar_t));
  static_assert(kAtOnce >= 1, "a draw holds at least one number");
  if (iter.numel() == 0) {
    return;
  }
  const auto [increment, grid, block] = sampling::execution_policy(iter.numel(), kAtOnce);
  const PhiloxCudaState philox = sampling::advance(gen, increment);
  if (!iter.can_use_32bit_indexing()) {
    for (auto& part : iter.with_32bit_indexing()) {
      distribution_nullary_kernel<scalar_t, accscalar_t, dist_func_return_t>(part, gen, dist_func, transform_func);
    }
    return;
  }
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  char* out = static_cast<char*>(iter.data_ptr(0));
  const OffsetCalculator<1> offsets = make_offset_calculator<1>(iter);
  sampling::sample_kernel<scalar_t, kAtOnce, accscalar_t>
      <<<grid, block, 0, stream>>>(iter.numel(), philox, out, offsets, dist_func, transform_func);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

namespace templates::cuda {

// ---- random_
// ---------------------------------------------------------------------------------------------------------

template <class RNG>
void random_from_to_kernel(TensorIteratorBase& iter, uint64_t range, int64_t base, RNG gen) {
  AT_DISPATCH_V2(
      iter.dtype(), "random_from_to_kernel_cuda", AT_WRAP([&] {
        const auto from_to = [range, base] __device__(auto bits) {
          return transformation::uniform_int_from_to<scalar_t>(bits, range, base);
        };
        // Of fewer bits the remainder would favour small numbers.
        if (range >= uint64_t{1} << 28) {
          distribution_nullary_kernel<scalar_t, uint64_t, ulonglong2>(iter, gen, sampling::Bits2(), from_to);
        } else {
          distribution_nullary_kernel<scalar_t, uint32_t, uint4>(iter, gen, sampling::Bits4(), from_to);
        }
      }),
      AT_EXPAND(AT_ALL_TYPES), kBool, kHalf, kBFloat16, AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES));
}

/// All of int64.
template <class RNG>
void random_full_64_bits_range_kernel(TensorIteratorBase& iter, RNG gen) {
  AT_DISPATCH_V2(
      iter.dtype(), "random_full_64_bits_range_kernel_cuda", AT_WRAP([&] {
        distribution_nullary_kernel<scalar_t, uint64_t, ulonglong2>(
            iter, gen, sampling::Bits2(),
            [] __device__(uint64_t bits) { return transformation::uniform_int_full_range<scalar_t>(bits); });
      }),
      kLong, kDouble, kFloat, kBFloat16);
}

template <class RNG>
struct RandomFromToKernel {
  void operator()(TensorIteratorBase& iter, uint64_t range, int64_t base, std::optional<Generator> gen) {
    random_from_to_kernel(iter, range, base, check_generator<RNG>(gen));
  }
  void operator()(TensorIteratorBase& iter, std::optional<Generator> gen) {
    random_full_64_bits_range_kernel(iter, check_generator<RNG>(gen));
  }
};

template <class RNG>
void random_kernel(TensorIteratorBase& iter, RNG gen) {
  AT_DISPATCH_ALL_TYPES_AND3(kHalf, kBFloat16, kBool, iter.dtype(), "random_kernel_cuda", [&] {
    const auto any = [] __device__(auto bits) { return transformation::uniform_int<scalar_t>(bits); };
    if constexpr (std::is_same_v<scalar_t, double> || std::is_same_v<scalar_t, int64_t>) {
      distribution_nullary_kernel<scalar_t, uint64_t, ulonglong2>(iter, gen, sampling::Bits2(), any);
    } else {
      distribution_nullary_kernel<scalar_t, uint32_t, uint4>(iter, gen, sampling::Bits4(), any);
    }
  });
}

template <class RNG>
struct RandomKernel {
  void operator()(TensorIteratorBase& iter, RNG gen) {
    random_kernel(iter, gen);
  }
};

// ---- of uniform and of normal numbers
// --------------------------------------------------------------------------------

/// transform(u), u in (0, 1].
template <class scalar_t, class accscalar_t, class RNG, class transform_t>
void uniform_and_transform(TensorIteratorBase& iter, RNG gen, transform_t transform) {
  if constexpr (std::is_same_v<scalar_t, double>) {
    distribution_nullary_kernel<scalar_t, accscalar_t, double2>(iter, gen, sampling::Uniform2(), transform);
  } else {
    distribution_nullary_kernel<scalar_t, accscalar_t, float4>(iter, gen, sampling::Uniform4(), transform);
  }
}

/// transform(z), z normal.
template <class scalar_t, class accscalar_t, class RNG, class transform_t>
void normal_and_transform(TensorIteratorBase& iter, RNG gen, transform_t transform) {
  if constexpr (std::is_same_v<scalar_t, double>) {
    distribution_nullary_kernel<scalar_t, accscalar_t, double2>(iter, gen, sampling::Normal2(), transform);
  } else {
    distribution_nullary_kernel<scalar_t, accscalar_t, float4>(iter, gen, sampling::Normal4(), transform);
  }
}

template <class RNG>
void normal_kernel(const TensorBase& self, double mean_, double std_, RNG gen) {
  auto iter = TensorIterator::borrowing_nullary_op(self);
  AT_DISPATCH_FLOATING_TYPES_AND2(kHalf, kBFloat16, iter.dtype(), "normal_kernel_cuda", [&] {
    using accscalar_t = at::acc_type<scalar_t, true>;
    const auto mean = static_cast<accscalar_t>(mean_), std = static_cast<accscalar_t>(std_);
    normal_and_transform<scalar_t, accscalar_t>(iter, gen, [mean, std] __device__(accscalar_t z) {
      return static_cast<scalar_t>(transformation::normal<accscalar_t>(z, mean, std));
    });
  });
}

template <class RNG>
struct NormalKernel {
  void operator()(const TensorBase& self, double mean, double std, std::optional<Generator> gen) {
    normal_kernel(self, mean, std, check_generator<RNG>(gen));
  }
};

template <class RNG>
void uniform_kernel(TensorIteratorBase& iter, double from_, double to_, RNG gen) {
  AT_DISPATCH_FLOATING_TYPES_AND2(kHalf, kBFloat16, iter.dtype(), "uniform_kernel_cuda", [&] {
    using opmath_t = at::opmath_type<scalar_t>;
    const auto from = static_cast<scalar_t>(from_), to = static_cast<scalar_t>(to_);
    const auto range = static_cast<opmath_t>(to - from);
    uniform_and_transform<scalar_t, opmath_t>(iter, gen, [range, from, to] __device__(opmath_t u) {
      // (0, 1] becomes [from, to).
      const auto value = static_cast<scalar_t>(u * range + static_cast<opmath_t>(from));
      return static_cast<opmath_t>(value) == static_cast<opmath_t>(to) ? from : value;
    });
  });
}

template <class RNG>
struct UniformKernel {
  void operator()(TensorIteratorBase& iter, double from, double to, std::optional<Generator> gen) {
    uniform_kernel(iter, from, to, check_generator<RNG>(gen));
  }
};

template <class RNG>
void log_normal_kernel(TensorIteratorBase& iter, double mean_, double std_, RNG gen) {
  AT_DISPATCH_FLOATING_TYPES_AND2(kHalf, kBFloat16, iter.dtype(), "log_normal_cuda", [&] {
    using accscalar_t = at::acc_type<scalar_t, true>;
    const auto mean = static_cast<accscalar_t>(mean_), std = static_cast<accscalar_t>(std_);
    normal_and_transform<scalar_t, accscalar_t>(iter, gen, [mean, std] __device__(accscalar_t z) {
      return static_cast<scalar_t>(
          transformation::log_normal<accscalar_t>(transformation::normal<accscalar_t>(z, mean, std)));
    });
  });
}

template <class RNG>
struct LogNormalKernel {
  void operator()(TensorIteratorBase& iter, double mean, double std, std::optional<Generator> gen) {
    log_normal_kernel(iter, mean, std, check_generator<RNG>(gen));
  }
};

template <class RNG>
void geometric_kernel(TensorIteratorBase& iter, double p, RNG gen) {
  AT_DISPATCH_ALL_TYPES_AND2(kHalf, kBFloat16, iter.dtype(), "geometric_cuda", [&] {
    using accscalar_t = std::conditional_t<std::is_same_v<scalar_t, double>, double, float>;
    uniform_and_transform<scalar_t, accscalar_t>(iter, gen, [p] __device__(accscalar_t u) {
      return static_cast<scalar_t>(transformation::geometric<accscalar_t>(u, static_cast<accscalar_t>(p)));
    });
  });
}

template <class RNG>
struct GeometricKernel {
  void operator()(TensorIteratorBase& iter, double p, std::optional<Generator> gen) {
    geometric_kernel(iter, p, check_generator<RNG>(gen));
  }
};

template <class RNG>
void exponential_kernel(TensorIteratorBase& iter, double lambda_, RNG gen) {
  TORCH_CHECK(
      isFloatingType(iter.dtype()),
      "Exponential distribution is a continuous probability distribution. dtype must be a floating point but you "
      "specified ",
      iter.dtype());
  AT_DISPATCH_FLOATING_TYPES_AND2(kHalf, kBFloat16, iter.dtype(), "exponential_cuda", [&] {
    using accscalar_t = at::acc_type<scalar_t, true>;
    const auto lambda = static_cast<accscalar_t>(lambda_);
    uniform_and_transform<scalar_t, accscalar_t>(iter, gen, [lambda] __device__(accscalar_t u) {
      return static_cast<scalar_t>(transformation::exponential<accscalar_t>(u, lambda));
    });
  });
}

template <class RNG>
struct ExponentialKernel {
  void operator()(TensorIteratorBase& iter, double lambda, std::optional<Generator> gen) {
    exponential_kernel(iter, lambda, check_generator<RNG>(gen));
  }
};

template <class RNG>
void cauchy_kernel(TensorIteratorBase& iter, double median_, double sigma_, RNG gen) {
  TORCH_CHECK(
      isFloatingType(iter.dtype()),
      "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you specified ",
      iter.dtype());
  AT_DISPATCH_FLOATING_TYPES_AND2(kHalf, kBFloat16, iter.dtype(), "cauchy_cuda", [&] {
    using accscalar_t = at::acc_type<scalar_t, true>;
    const auto median = static_cast<accscalar_t>(median_), sigma = static_cast<accscalar_t>(sigma_);
    uniform_and_transform<scalar_t, accscalar_t>(iter, gen, [median, sigma] __device__(accscalar_t u) {
      return static_cast<scalar_t>(transformation::cauchy<accscalar_t>(u, median, sigma));
    });
  });
}

template <class RNG>
struct CauchyKernel {
  void operator()(TensorIteratorBase& iter, double median, double sigma, std::optional<Generator> gen) {
    cauchy_kernel(iter, median, sigma, check_generator<RNG>(gen));
  }
};

// ---- bernoulli_
// ------------------------------------------------------------------------------------------------------

/// A probability for each element; one beyond [0, 1] stops the kernel.
template <class RNG>
void bernoulli_kernel(const TensorBase& self, const TensorBase& p_, RNG gen) {
  TORCH_CHECK(
      isFloatingType(p_.scalar_type()), "expected probabilities tensor to have floating type, got ", p_.scalar_type());
  const PhiloxCudaState philox = sampling::advance(gen, 10);
  const auto p_dtype = self.scalar_type() == kDouble ? kDouble : kFloat;
  const Tensor p = Tensor(p_).to(self.device(), p_dtype).expand(self.sizes());
  AT_DISPATCH_ALL_TYPES_AND3(kHalf, kBFloat16, kBool, self.scalar_type(), "bernoulli_tensor_cuda_self_", [&] {
    using prob_t = std::conditional_t<std::is_same_v<scalar_t, double>, double, float>;
    const auto draw = [philox] __device__(
                          int n, scalar_t& v1, scalar_t& v2, scalar_t& v3, scalar_t& v4, const prob_t& p1,
                          const prob_t& p2, const prob_t& p3, const prob_t& p4) {
      const auto seed_and_offset = at::cuda::philox::unpack(philox);
      curandStatePhilox4_32_10_t state;
      curand_init(
          std::get<0>(seed_and_offset), blockIdx.x * blockDim.x + threadIdx.x, std::get<1>(seed_and_offset), &state);
      const float4 drawn = curand_uniform4(&state);
      scalar_t* const to[] = {&v1, &v2, &v3, &v4};
      const prob_t chance[] = {p1, p2, p3, p4};
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (k < n) {
          CUDA_KERNEL_ASSERT(0 <= chance[k] && chance[k] <= 1);
          *to[k] = static_cast<scalar_t>((&drawn.x)[k] <= chance[k]);
        }
      }
    };
    at::cuda::CUDA_tensor_apply2<scalar_t, const prob_t, 4, decltype(draw), 512, 2>(self, p, draw);
  });
}

template <class RNG>
void bernoulli_kernel(TensorIteratorBase& iter, double p, RNG gen) {
  AT_DISPATCH_ALL_TYPES_AND3(kHalf, kBFloat16, kBool, iter.dtype(), "bernoulli_scalar_cuda_", [&] {
    using accscalar_t = std::conditional_t<std::is_same_v<scalar_t, double>, double, float>;
    uniform_and_transform<scalar_t, accscalar_t>(iter, gen, [p] __device__(accscalar_t u) {
      return static_cast<scalar_t>(transformation::bernoulli<accscalar_t>(u, static_cast<accscalar_t>(p)));
    });
  });
}

template <class RNG>
struct BernoulliKernel {
  void operator()(TensorIteratorBase& iter, double p, std::optional<Generator> gen) {
    bernoulli_kernel(iter, p, check_generator<RNG>(gen));
  }
  void operator()(const TensorBase& self, const TensorBase& p_, std::optional<Generator> gen) {
    bernoulli_kernel(self, p_, check_generator<RNG>(gen));
  }
};

} // namespace templates::cuda
} // namespace at::native
