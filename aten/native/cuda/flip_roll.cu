#include <aten/native/cuda/flip_roll.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;
// Elements of a thread, a block apart: all are read before the first is written.
constexpr int kTurned = 4;

template <class W>
__global__ void __launch_bounds__(kThreads) turn_kernel(FlipRoll p, const W* from, W* to) {
  const std::uint32_t first = blockIdx.x * (kThreads * kTurned) + threadIdx.x;
  W words[kTurned];
  std::int64_t places[kTurned];
#pragma unroll
  for (int k = 0; k < kTurned; ++k) {
    std::uint32_t rest = first + k * kThreads;
    const bool has = rest < p.n;
    std::int64_t source = 0, target = 0;
    for (int d = 0; d < p.dims; ++d) {
      const std::uint32_t quotient = p.dim[d].size.divide(rest), c = rest - quotient * p.dim[d].size.divisor;
      source += p.dim[d].shown(c) * p.dim[d].from_stride;
      target += c * p.dim[d].to_stride;
      rest = quotient;
    }
    places[k] = target;
    words[k] = has ? from[source] : W();
  }
#pragma unroll
  for (int k = 0; k < kTurned; ++k) {
    if (first + k * kThreads < p.n) {
      to[places[k]] = words[k];
    }
  }
}

} // namespace

void launch_flip_roll(const FlipRoll& p, std::size_t size, const void* from, void* to) {
  with_word(size, [&](auto word) {
    using W = decltype(word);
    turn_kernel<W><<<blocks_of(p.n, kThreads * kTurned), kThreads, 0, p.stream>>>(
        p, static_cast<const W*>(from), static_cast<W*>(to));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

} // namespace at::native::cuda
