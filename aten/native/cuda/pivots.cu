#include <aten/native/cuda/pivots.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/index_check.cuh>
#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

__device__ std::int64_t thread_number() {
  return static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
}

__global__ void __launch_bounds__(kThreads) widen_lu_pivots(Pivots p) {
  const std::int64_t i = thread_number();
  if (i >= p.count * p.pivots) {
    return;
  }
  std::int64_t row = p.in[i] - std::int64_t(1);
  p.out[i] = check_index(p.check, row, i) ? row + 1 : 1;
}

__global__ void __launch_bounds__(kThreads) widen_ldl_pivots(Pivots p) {
  const std::int64_t matrix = thread_number();
  if (matrix >= p.count) {
    return;
  }
  const std::int32_t* in = p.in + matrix * p.pivots;
  std::int64_t* out = p.out + matrix * p.pivots;
  for (std::int64_t i = 0; i < p.pivots; ++i) {
    const std::int64_t pivot = in[i];
    std::int64_t row = (pivot < 0 ? -pivot : pivot) - 1;
    if (pivot < 0 && (i + 1 >= p.pivots || in[i + 1] != pivot)) {
      row = -1; // half a block
    }
    const bool good = check_index(p.check, row, matrix * p.pivots + i);
    out[i] = good ? pivot : i + 1;
    if (good && pivot < 0) {
      out[++i] = pivot;
    }
  }
}

__global__ void __launch_bounds__(kThreads) pivot_order(Pivots p) {
  const std::int64_t matrix = thread_number();
  if (matrix >= p.count) {
    return;
  }
  const std::int32_t* in = p.in + matrix * p.pivots;
  std::int64_t* out = p.out + matrix * p.check.size;
  for (std::int64_t i = 0; i < p.check.size; ++i) {
    out[i] = i;
  }
  for (std::int64_t i = 0; i < p.pivots; ++i) {
    std::int64_t row = in[i] - std::int64_t(1);
    if (check_index(p.check, row, matrix * p.pivots + i)) {
      const std::int64_t moved = out[i];
      out[i] = out[row];
      out[row] = moved;
    }
  }
}

} // namespace

void launch_widen_lu_pivots(const Pivots& p) {
  if (p.count * p.pivots != 0) {
    widen_lu_pivots<<<blocks_of(p.count * p.pivots, kThreads), kThreads, 0, p.stream>>>(p);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
}

void launch_widen_ldl_pivots(const Pivots& p) {
  if (p.count * p.pivots != 0) {
    widen_ldl_pivots<<<blocks_of(p.count, kThreads), kThreads, 0, p.stream>>>(p);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
}

void launch_pivot_order(const Pivots& p) {
  if (p.count * p.check.size != 0) {
    pivot_order<<<blocks_of(p.count, kThreads), kThreads, 0, p.stream>>>(p);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
}

} // namespace at::native::cuda
