#include <aten/native/cuda/factory.h>

#include <aten/native/cuda/OffsetCalculator.h>
#include <aten/native/cuda/memory_access.cuh>
#include <c10/cuda/CUDAException.h>
#include <c10/util/complex.h>

#include <algorithm>
#include <type_traits>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 65536;

unsigned blocks_for(std::int64_t n) {
  return static_cast<unsigned>(std::min((n + kThreads - 1) / kThreads, kMostBlocks));
}

template <class T, class F>
__global__ void __launch_bounds__(kThreads) fill_by_index(T* out, std::int64_t n, F f) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < n; i += step) {
    out[i] = f(i);
  }
}

template <class T, class F>
void fill(const Sequence& out, const F& f) {
  fill_by_index<<<blocks_for(out.n), kThreads, 0, out.stream>>>(static_cast<T*>(out.data), out.n, f);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

template <class T>
struct ArangeAt {
  using Acc = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;
  HOST_DEVICE T operator()(std::int64_t i) const {
    return c10::convert<T>(first + static_cast<Acc>(i) * by);
  }
  Acc first, by;
};

// Integers step in float; both ends are met exactly by counting from the nearer one.
template <class T>
struct LinspaceAt {
  using Step = std::conditional_t<std::is_integral_v<T>, float, at::opmath_type<T>>;
  HOST_DEVICE T operator()(std::int64_t i) const {
    using Count =
        std::conditional_t<std::is_same_v<Step, double> || std::is_same_v<Step, c10::complex<double>>, double, float>;
    return c10::convert<T>(
        i < steps / 2 ? first + by * static_cast<Count>(i) : last - by * static_cast<Count>(steps - i - 1));
  }
  Step first, last, by;
  std::int64_t steps;
};

template <class T>
struct LogspaceAt {
  HOST_DEVICE T operator()(std::int64_t i) const {
    const double exponent =
        i < (steps + 1) / 2 ? first + by * static_cast<double>(i) : last - by * static_cast<double>(steps - i - 1);
    return c10::convert<T>(::pow(base, exponent));
  }
  double first, last, by, base;
  std::int64_t steps;
};

template <class T>
void arange(const Sequence& out, const c10::Scalar& start, const c10::Scalar& step) {
  using Acc = typename ArangeAt<T>::Acc;
  fill<T>(out, ArangeAt<T>{start.to<Acc>(), step.to<Acc>()});
}

template <class T>
void linspace(const Sequence& out, const c10::Scalar& start, const c10::Scalar& end) {
  using Step = typename LinspaceAt<T>::Step;
  const Step first = c10::convert<Step>(start.to<T>()), last = c10::convert<Step>(end.to<T>());
  fill<T>(out, LinspaceAt<T>{first, last, (last - first) / static_cast<Step>(out.n - 1), out.n});
}

template <class T>
void logspace(const Sequence& out, double start, double end, double base) {
  fill<T>(out, LogspaceAt<T>{start, end, out.n > 1 ? (end - start) / static_cast<double>(out.n - 1) : 0, base, out.n});
}

// f(T()) for the C++ type of the dtype, one of Ts.
template <class... Ts>
struct OneOf {
  template <class F>
  static void call(c10::ScalarType dtype, F f) {
    static_cast<void>(((dtype == c10::CppTypeToScalarType<Ts>::value && (f(Ts()), true)) || ...));
  }
};
using RangeTypes =
    OneOf<std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, c10::Half, c10::BFloat16, float, double>;
using LinspaceTypes = OneOf<
    std::uint8_t,
    std::int8_t,
    std::int16_t,
    std::int32_t,
    std::int64_t,
    c10::Half,
    c10::BFloat16,
    float,
    double,
    c10::complex<float>,
    c10::complex<double>>;

} // namespace

void launch_arange(const Sequence& out, const c10::Scalar& start, const c10::Scalar& step) {
  RangeTypes::call(out.dtype, [&](auto type) { arange<decltype(type)>(out, start, step); });
}

void launch_linspace(const Sequence& out, const c10::Scalar& start, const c10::Scalar& end) {
  LinspaceTypes::call(out.dtype, [&](auto type) { linspace<decltype(type)>(out, start, end); });
}

void launch_logspace(const Sequence& out, double start, double end, double base) {
  RangeTypes::call(out.dtype, [&](auto type) { logspace<decltype(type)>(out, start, end, base); });
}

} // namespace at::native::cuda
