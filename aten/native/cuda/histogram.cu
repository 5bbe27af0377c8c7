#include <aten/native/cuda/histogram.h>

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

constexpr int kBlockBins = 4096; // that a block counts by itself

template <class T>
__global__ void __launch_bounds__(kThreads) count_by_ranges(Histogram p, const T* x, T* counts) {
  __shared__ std::uint32_t own[kBlockBins];
  const bool by_block = p.bins <= kBlockBins;
  const int bins = by_block ? static_cast<int>(p.bins) : 0;
  for (int i = threadIdx.x; i < bins; i += kThreads) {
    own[i] = 0;
  }
  __syncthreads();
  const T low = static_cast<T>(p.low), high = static_cast<T>(p.high), width = static_cast<T>(p.width);
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < p.n; i += step) {
    const T value = x[i];
    if (value >= low && value <= high) {
      const auto bin = static_cast<std::int64_t>((value - low) * static_cast<T>(p.bins) / width);
      const std::int64_t place = bin < p.bins ? bin : p.bins - 1;
      if (by_block) {
        atomicAdd(&own[place], 1u);
      } else {
        atomicAdd(counts + place, T(1));
      }
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += kThreads) {
    if (own[i] != 0) {
      atomicAdd(counts + i, static_cast<T>(own[i]));
    }
  }
}

} // namespace

void launch_histogram(const Histogram& p) {
  constexpr std::int64_t kEach = 8, kMostBlocks = 1024; // numbers of a thread at least, where there are many
  OneTypeOf<float, double>::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    const std::int64_t wanted = (p.n + kThreads * kEach - 1) / (kThreads * kEach);
    const auto blocks = static_cast<unsigned>(wanted < kMostBlocks ? wanted : kMostBlocks);
    count_by_ranges<T><<<blocks, kThreads, 0, p.stream>>>(p, static_cast<const T*>(p.x), static_cast<T*>(p.counts));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_search(const Search& p) {
  RealTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    search<T><<<blocks_of(p.count, kThreads), kThreads, 0, p.stream>>>(p);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

} // namespace at::native::cuda
