#include <aten/native/cuda/search.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/index_check.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) search(Search p) {
  using R = opmath_type<T>;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= p.count) {
    return;
  }
  const std::int64_t start = p.per_row == 0 ? 0 : i / p.per_row * p.row;
  const T* edges = static_cast<const T*>(p.edges) + start;
  const R value = widen(static_cast<const T*>(p.values)[i]);
  std::int64_t low = 0, high = p.row;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    std::int64_t at = p.order != nullptr ? p.order[start + middle] : middle;
    if (p.order != nullptr && !check_index(p.check, at, start + middle)) {
      break;
    }
    const R edge = widen(edges[at]);
    // The search goes on to the right of a NaN, and past the end for one.
    if (p.right ? !(edge > value) : !(edge >= value)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (p.narrow_places) {
    static_cast<std::int32_t*>(p.places)[i] = static_cast<std::int32_t>(low);
  } else {
    static_cast<std::int64_t*>(p.places)[i] = low;
  }
}

} // namespace

void launch_search(const Search& p) {
  RealTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    search<T><<<blocks_of(p.count, kThreads), kThreads, 0, p.stream>>>(p);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

} // namespace at::native::cuda
