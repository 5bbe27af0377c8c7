#include <aten/native/cuda/sparse.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <c10/cuda/CUDAException.h>

#include <algorithm>
#include <type_traits>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 65536;

template <class T>
__global__ void __launch_bounds__(kThreads) sum_groups(
    const T* values,
    const std::int64_t* order,
    const std::int64_t* starts,
    std::int64_t n,
    std::int64_t groups,
    std::int64_t block,
    T* out) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < groups * block; i += step) {
    const std::int64_t group = i / block, element = i - group * block;
    const std::int64_t end = group + 1 < groups ? starts[group + 1] : n;
    auto sum = widen(values[order[starts[group]] * block + element]);
    for (std::int64_t k = starts[group] + 1; k < end; ++k) {
      const auto x = widen(values[order[k] * block + element]);
      if constexpr (std::is_same_v<T, bool>) {
        sum = sum || x;
      } else {
        sum = sum + x;
      }
    }
    out[i] = narrow<T>(sum);
  }
}

using SummedTypes = OneTypeOf<
    bool,
    std::uint8_t,
    std::int8_t,
    std::int16_t,
    std::int32_t,
    std::int64_t,
    c10::Half,
    c10::BFloat16,
    float,
    double,
    c10::complex<c10::Half>,
    c10::complex<float>,
    c10::complex<double>>;

} // namespace

void launch_sum_groups(const SumGroups& p) {
  SummedTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    const std::int64_t blocks = std::min((p.groups * p.block + kThreads - 1) / kThreads, kMostBlocks);
    sum_groups<<<static_cast<unsigned>(blocks), kThreads, 0, p.stream>>>(
        static_cast<const T*>(p.values), p.order, p.starts, p.n, p.groups, p.block, static_cast<T*>(p.out));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

} // namespace at::native::cuda
