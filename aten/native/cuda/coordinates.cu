#include <aten/native/cuda/sort.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) coordinates(Coordinates p) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= p.n) {
    return;
  }
  auto rest = static_cast<std::uint64_t>(p.positions[i]);
  for (int d = p.dims - 1; d > 0; --d) {
    const auto size = static_cast<std::uint64_t>(p.sizes[d]);
    // Division by 64 bits takes several times as long.
    const std::uint64_t quotient =
        (rest | size) >> 32 == 0 ? static_cast<std::uint32_t>(rest) / static_cast<std::uint32_t>(size) : rest / size;
    p.out[d * p.n + i] = static_cast<std::int64_t>(rest - quotient * size);
    rest = quotient;
  }
  p.out[i] = static_cast<std::int64_t>(rest);
}

} // namespace

void launch_coordinates(const Coordinates& p) {
  coordinates<<<blocks_of(p.n, kThreads), kThreads, 0, p.stream>>>(p);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace at::native::cuda
