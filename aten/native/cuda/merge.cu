// Two sorted runs become one: each element finds its place by searching the other run. Neighbours search alike, so what
// they read is in the cache.
#include <aten/native/cuda/sort.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/radix_key.cuh>
#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

template <class T>
__device__ typename WordOf<sizeof(T)>::type key_of(T x, bool descending) {
  const auto word = ordered_word(x);
  return descending ? static_cast<decltype(word)>(~word) : word;
}

// How many elements of a sorted run come before one of the other: those with smaller keys, and equal ones if
// `equal_first`.
template <class T>
__device__ std::int64_t count_before(const T* run, std::int64_t size, T x, bool descending, bool equal_first) {
  const auto key = key_of(x, descending);
  std::int64_t low = 0, high = size;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    const auto other = key_of(run[middle], descending);
    if (other < key || (equal_first && other == key)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

template <class T>
__global__ void __launch_bounds__(kThreads) merge_runs(MergeRuns p, const T* in, T* out) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= p.front + p.back) {
    return;
  }
  const T x = in[i];
  const bool in_front = i < p.front;
  const std::int64_t others = in_front ? count_before(in + p.front, p.back, x, p.descending, false)
                                       : count_before(in, p.front, x, p.descending, true);
  const std::int64_t place = others + (in_front ? i : i - p.front);
  out[place] = x;
  p.indices[place] = p.indices_in[i];
}

} // namespace

void launch_merge(const MergeRuns& p) {
  const bool known = SortKeys::call(p.dtype, [&](auto key) {
    using T = decltype(key);
    merge_runs<T><<<blocks_of(p.front + p.back, kThreads), kThreads, 0, p.stream>>>(
        p, static_cast<const T*>(p.values_in), static_cast<T*>(p.values));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  TORCH_INTERNAL_ASSERT(known, "merge: no kernel for ", p.dtype);
}

} // namespace at::native::cuda
