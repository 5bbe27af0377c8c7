#include <aten/native/cuda/random.h>

#include <aten/cuda/PhiloxUtils.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <c10/cuda/CUDAException.h>

#include <curand_kernel.h>

#include <limits>
#include <type_traits>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

// Four or two samples of one draw.
struct Uniform4 {
  static constexpr int kCount = 4;
  static __device__ float4 draw(curandStatePhilox4_32_10_t* state) {
    return curand_uniform4(state);
  }
};
struct Uniform2 {
  static constexpr int kCount = 2;
  static __device__ double2 draw(curandStatePhilox4_32_10_t* state) {
    return curand_uniform2_double(state);
  }
};
struct Normal4 {
  static constexpr int kCount = 4;
  static __device__ float4 draw(curandStatePhilox4_32_10_t* state) {
    return curand_normal4(state);
  }
};
struct Normal2 {
  static constexpr int kCount = 2;
  static __device__ double2 draw(curandStatePhilox4_32_10_t* state) {
    return curand_normal2_double(state);
  }
};
struct Bits4 {
  static constexpr int kCount = 4;
  static __device__ uint4 draw(curandStatePhilox4_32_10_t* state) {
    return curand4(state);
  }
};
struct Bits2 {
  static constexpr int kCount = 2;
  static __device__ ulonglong2 draw(curandStatePhilox4_32_10_t* state) {
    const uint4 bits = curand4(state);
    return {
        (static_cast<unsigned long long>(bits.x) << 32) | bits.y,
        (static_cast<unsigned long long>(bits.z) << 32) | bits.w};
  }
};

template <class Draw, class T, class Transform>
__global__ void __launch_bounds__(kThreads, 4)
    sample_kernel(T* out, std::int64_t n, PhiloxCudaState philox, Transform transform) {
  const auto [seed, offset] = at::cuda::philox::unpack(philox);
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * kThreads;
  curandStatePhilox4_32_10_t state;
  curand_init(seed, thread, offset, &state);
  const std::int64_t stride = threads * Draw::kCount;
  const std::int64_t rounded = ((n - 1) / stride + 1) * stride;
  for (std::int64_t start = thread; start < rounded; start += stride) {
    const auto samples = Draw::draw(&state);
#pragma unroll
    for (int k = 0; k < Draw::kCount; ++k) {
      const std::int64_t i = start + threads * k;
      if (i < n) {
        out[i] = transform((&samples.x)[k], i);
      }
    }
  }
}

template <class Draw, class T, class Transform>
void sample(const RandomTarget& to, const Transform& transform) {
  sample_kernel<Draw><<<to.blocks, kThreads, 0, to.stream>>>(static_cast<T*>(to.data), to.n, to.philox, transform);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

// The functions of a sample in (0, 1], or of a normal one. R is float or double.

template <class T, class R>
struct UniformTransform {
  __device__ T operator()(R u, std::int64_t) const {
    // From (0, 1] to [from, to).
    const T x = narrow<T>(u * (to - from) + from);
    return widen(x) == widen(narrow<T>(to)) ? narrow<T>(from) : x;
  }
  R from, to;
};

template <class T, class R>
struct NormalTransform {
  __device__ T operator()(R z, std::int64_t) const {
    return narrow<T>(z * std + mean);
  }
  R mean, std;
};

template <class T, class R>
struct LogNormalTransform {
  __device__ T operator()(R z, std::int64_t) const {
    return narrow<T>(::exp(z * std + mean));
  }
  R mean, std;
};

template <class T, class R>
struct ExponentialTransform {
  __device__ T operator()(R u, std::int64_t) const {
    // The logarithm of 1 would give a waiting time of 0, which has probability 0.
    constexpr R kHalfEps = std::numeric_limits<R>::epsilon() / 2;
    const R log = u >= R(1) - kHalfEps ? -kHalfEps : ::log(u);
    return narrow<T>(R(-1) / rate * log);
  }
  R rate;
};

template <class T, class R>
struct CauchyTransform {
  __device__ T operator()(R u, std::int64_t) const {
    constexpr R kEps = std::numeric_limits<R>::epsilon();
    constexpr R kPi = R(3.14159265358979323846);
    u = u > R(1) - kEps ? R(1) - kEps : u < kEps ? kEps : u;
    return narrow<T>(median + sigma * ::tan(kPi * (u - R(0.5))));
  }
  R median, sigma;
};

template <class T, class R>
struct GeometricTransform {
  __device__ T operator()(R u, std::int64_t) const {
    return c10::convert<T>(::ceil(::log(u) / ::log1p(-p)));
  }
  R p;
};

template <class T, class R>
struct BernoulliTransform {
  __device__ T operator()(R u, std::int64_t) const {
    return c10::convert<T>(u < p ? R(1) : R(0));
  }
  R p;
};

template <class T, class P>
struct BernoulliEach {
  template <class R>
  __device__ T operator()(R u, std::int64_t i) const {
    return c10::convert<T>(u <= static_cast<R>(p[i]) && p[i] != P(0) ? R(1) : R(0));
  }
  const P* p;
};

template <class T>
struct IntegerTransform {
  template <class Bits>
  __device__ T operator()(Bits bits, std::int64_t) const {
    const std::uint64_t rest = range == 0 ? static_cast<std::uint64_t>(bits) : static_cast<std::uint64_t>(bits) % range;
    return c10::convert<T>(static_cast<std::int64_t>(rest + static_cast<std::uint64_t>(base)));
  }
  std::uint64_t range;
  std::int64_t base;
};

// Types in which numbers are drawn for a dtype.
template <class T>
using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;
template <class T>
using Uniform = std::conditional_t<std::is_same_v<T, double>, Uniform2, Uniform4>;
template <class T>
using Normal = std::conditional_t<std::is_same_v<T, double>, Normal2, Normal4>;

template <class... Ts>
struct OneOf {
  template <class F>
  static void call(c10::ScalarType dtype, F f) {
    static_cast<void>(((dtype == c10::CppTypeToScalarType<Ts>::value && (f(Ts()), true)) || ...));
  }
};
using Floating = OneOf<c10::Half, c10::BFloat16, float, double>;

} // namespace

bool draws_64_bits(Distribution, c10::ScalarType dtype) {
  return dtype == c10::ScalarType::Double;
}

void launch_distribution(const RandomTarget& to, Distribution distribution, double a, double b) {
  Floating::call(to.dtype, [&](auto type) {
    using T = decltype(type);
    using R = Real<T>;
    const R first = static_cast<R>(a), second = static_cast<R>(b);
    switch (distribution) {
      case Distribution::Uniform:
        return sample<Uniform<T>, T>(to, UniformTransform<T, R>{first, second});
      case Distribution::Normal:
        return sample<Normal<T>, T>(to, NormalTransform<T, R>{first, second});
      case Distribution::LogNormal:
        return sample<Normal<T>, T>(to, LogNormalTransform<T, R>{first, second});
      case Distribution::Exponential:
        return sample<Uniform<T>, T>(to, ExponentialTransform<T, R>{first});
      case Distribution::Cauchy:
        return sample<Uniform<T>, T>(to, CauchyTransform<T, R>{first, second});
      case Distribution::Geometric:
        return sample<Uniform<T>, T>(to, GeometricTransform<T, R>{first});
      case Distribution::Bernoulli:
        return sample<Uniform<T>, T>(to, BernoulliTransform<T, R>{first});
    }
  });
}

void launch_integers(const RandomTarget& to, bool wide, std::uint64_t range, std::int64_t base) {
  using T = std::int64_t;
  wide ? sample<Bits2, T>(to, IntegerTransform<T>{range, base})
       : sample<Bits4, T>(to, IntegerTransform<T>{range, base});
}

void launch_bernoulli_each(const RandomTarget& to, bool double_p, const void* p) {
  double_p ? sample<Uniform4, float>(to, BernoulliEach<float, double>{static_cast<const double*>(p)})
           : sample<Uniform4, float>(to, BernoulliEach<float, float>{static_cast<const float*>(p)});
}

} // namespace at::native::cuda
