#include <aten/native/cuda/embedding_bag.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/index_check.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

__device__ std::int64_t bound(const EmbeddingBag& p, std::int64_t bag) {
  const std::int64_t at = bag < p.offset_count ? p.offsets[bag] : p.count;
  return at < 0 ? 0 : at < p.count ? at : p.count;
}

// A thread makes one element of a bag's row; its neighbours read the elements beside those that it reads.
template <class T>
__global__ void __launch_bounds__(kThreads) reduce_bags(EmbeddingBag p) {
  using R = opmath_type<T>;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t bag = i / p.width, column = i - bag * p.width;
  if (bag >= p.bags) {
    return;
  }
  const T *table = static_cast<const T*>(p.table), *scales = static_cast<const T*>(p.scales);
  R result = 0;
  std::int64_t used = 0, row = 0;
  for (std::int64_t k = bound(p, bag), end = bound(p, bag + 1); k < end; ++k) {
    std::int64_t index = p.indices[k];
    if (index == p.padding_idx || !check_index(p.check, index, k)) {
      continue;
    }
    const R x = widen(table[index * p.width + column]);
    if (p.mode != EmbeddingBag::Max) {
      result += scales != nullptr ? x * static_cast<R>(widen(scales[k])) : x;
    } else if (used == 0 || x > result) {
      result = x;
      row = index;
    }
    ++used;
  }
  if (p.mode == EmbeddingBag::Mean && used > 0) {
    result /= static_cast<R>(used);
  }
  static_cast<T*>(p.out)[i] = narrow<T>(result);
  if (p.rows != nullptr) {
    p.rows[i] = row;
  }
  if (column == 0) {
    p.sizes[bag] = used;
    if (bag < p.offset_count) {
      std::int64_t offset = p.offsets[bag];
      check_index(p.check_offset, offset, bag);
    }
  }
}

} // namespace

void launch_embedding_bag(const EmbeddingBag& p) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    reduce_bags<T><<<blocks_of(p.bags * p.width, kThreads), kThreads, 0, p.stream>>>(p);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

} // namespace at::native::cuda
