// Copy and conversion kernels. Copies know only the size of an element. Conversions are one kernel for each result dtype
// that finds the source dtype at run time: the choice is the same for all threads, and 18 x 18 kernels would be a third
// of the library.
#include <aten/native/cuda/copy.h>

#include <aten/native/cuda/pointwise_loop.cuh>

namespace at::native::cuda {

namespace {

struct Same {
  static constexpr bool kMoves = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return x;
  }
};

struct alignas(16) Word16 {
  std::uint64_t parts[2];
};

constexpr int kThreads = 256;
constexpr int kItems = 4;

template <class From, class To>
__device__ void convert_items(
    char* to, const char* from, const std::uint32_t (&offsets)[kItems][2], std::uint32_t index, std::uint32_t n) {
  From values[kItems];
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    if (index + k * kThreads < n) {
      values[k] = *reinterpret_cast<const From*>(from + offsets[k][1]);
    }
  }
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    if (index + k * kThreads < n) {
      *reinterpret_cast<To*>(to + offsets[k][0]) = c10::convert<To>(values[k]);
    }
  }
}

template <class To, class... Froms>
__global__ void __launch_bounds__(kThreads)
    convert_kernel(std::uint32_t n, char* to, const char* from, c10::ScalarType dtype, OffsetCalculator<2> places) {
  const std::uint32_t index = blockIdx.x * (kThreads * kItems) + threadIdx.x;
  std::uint32_t offsets[kItems][2];
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const auto place = places.get(index + k * kThreads);
    offsets[k][0] = place.of[0];
    offsets[k][1] = place.of[1];
  }
  static_cast<void>(
      ((dtype == c10::CppTypeToScalarType<Froms>::value &&
        (convert_items<Froms, To>(to, from, offsets, index, n), true)) ||
       ...));
}

template <class... Ts>
struct Converter {
  template <class To>
  static bool launch(const PointwisePlan& plan, c10::ScalarType from) {
    const auto n = static_cast<std::uint32_t>(plan.numel);
    const OffsetCalculator<2> places(
        plan.dims, plan.sizes, [&](int dim, int operand) { return plan.strides[dim][operand]; });
    convert_kernel<To, Ts...><<<(n + kThreads * kItems - 1) / (kThreads * kItems), kThreads, 0, plan.stream>>>(
        n, plan.data[0], plan.data[1], from, places);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return true;
  }

  static bool launch_any(const PointwisePlan& plan, c10::ScalarType to, c10::ScalarType from) {
    return ((to == c10::CppTypeToScalarType<Ts>::value && launch<Ts>(plan, from)) || ...);
  }
};

template <class To, class From>
bool launch_dense(const PointwisePlan& plan, c10::ScalarType to, c10::ScalarType from) {
  if (to != c10::CppTypeToScalarType<To>::value || from != c10::CppTypeToScalarType<From>::value) {
    return false;
  }
  launch_pointwise<To, From>(plan, Same{});
  return true;
}

} // namespace

void launch_move(const PointwisePlan& plan, std::size_t size) {
  switch (size) {
    case 1:
      return launch_pointwise<std::uint8_t, std::uint8_t>(plan, Same{});
    case 2:
      return launch_pointwise<std::uint16_t, std::uint16_t>(plan, Same{});
    case 4:
      return launch_pointwise<std::uint32_t, std::uint32_t>(plan, Same{});
    case 8:
      return launch_pointwise<std::uint64_t, std::uint64_t>(plan, Same{});
    default:
      return launch_pointwise<Word16, Word16>(plan, Same{});
  }
}

void launch_convert(const PointwisePlan& plan, c10::ScalarType to, c10::ScalarType from) {
  // What mixed precision does all day.
  if (launch_dense<c10::Half, float>(plan, to, from) || launch_dense<float, c10::Half>(plan, to, from) ||
      launch_dense<c10::BFloat16, float>(plan, to, from) || launch_dense<float, c10::BFloat16>(plan, to, from)) {
    return;
  }
  const bool known = Converter<
      bool, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint16_t, std::uint32_t,
      std::uint64_t, c10::Half, c10::BFloat16, float, double, c10::complex<c10::Half>, c10::complex<float>,
      c10::complex<double>, c10::Float8_e5m2, c10::Float8_e4m3fn>::launch_any(plan, to, from);
  TORCH_INTERNAL_ASSERT(known, "no conversion from ", from, " to ", to);
}

} // namespace at::native::cuda
