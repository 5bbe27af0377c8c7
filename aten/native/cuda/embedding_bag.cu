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

/// The bag of index k: as many offsets are at or before it, but one.
__device__ std::int64_t bag_of(const EmbeddingBag& p, std::int64_t k) {
  std::int64_t from = 0, to = p.offset_count;
  while (from < to) {
    const std::int64_t middle = from + (to - from) / 2;
    if (p.offsets[middle] <= k) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return from > 0 ? from - 1 : 0;
}

// A thread makes K elements of a bag's row; its neighbours read the elements beside those that it reads.
template <class T, int K>
__global__ void __launch_bounds__(kThreads) reduce_bags(EmbeddingBag p) {
  using R = opmath_type<T>;
  using Elements = Aligned<T, K>;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x, threads = p.width / K;
  const std::int64_t bag = i / threads, column = (i - bag * threads) * K;
  if (p.bag_of != nullptr) {
    const std::int64_t all = static_cast<std::int64_t>(gridDim.x) * kThreads;
    for (std::int64_t k = i; k < p.count; k += all) {
      p.bag_of[k] = bag_of(p, k);
    }
  }
  if (bag >= p.bags) {
    return;
  }
  const T *table = static_cast<const T*>(p.table), *scales = static_cast<const T*>(p.scales);
  R result[K] = {};
  std::int64_t used = 0, rows[K] = {};
  for (std::int64_t k = bound(p, bag), end = bound(p, bag + 1); k < end; ++k) {
    std::int64_t index = p.indices[k];
    if (index == p.padding_idx || !check_index(p.check, index, k)) {
      continue;
    }
    const Elements row = *reinterpret_cast<const Elements*>(table + index * p.width + column);
    const R scale = scales != nullptr ? R(widen(scales[k])) : R(1);
#pragma unroll
    for (int e = 0; e < K; ++e) {
      const R x = widen(row.values[e]);
      if (p.mode != EmbeddingBag::Max) {
        result[e] += scales != nullptr ? x * scale : x;
      } else if (used == 0 || x > result[e]) {
        result[e] = x;
        rows[e] = index;
      }
    }
    ++used;
  }
  Elements out;
#pragma unroll
  for (int e = 0; e < K; ++e) {
    out.values[e] = narrow<T>(p.mode == EmbeddingBag::Mean && used > 0 ? result[e] / static_cast<R>(used) : result[e]);
    if (p.places != nullptr && p.mode == EmbeddingBag::Max) {
      p.places[i * K + e] = rows[e];
    }
  }
  reinterpret_cast<Elements*>(p.out)[i] = out;
  if (column == 0) {
    const std::int64_t size = p.mode == EmbeddingBag::Sum ? 0 : used;
    if (p.sizes != nullptr) {
      p.sizes[bag] = size;
    }
    if (p.places != nullptr && p.mode != EmbeddingBag::Max) {
      p.places[bag] = size;
    }
    if (p.one_more && bag + 1 == p.bags) {
      p.sizes[p.bags] = 0;
      if (p.places != nullptr) {
        p.places[p.bags] = 0;
      }
    }
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
    constexpr int kWide = 16 / sizeof(T);
    const bool aligned =
        (reinterpret_cast<std::uintptr_t>(p.table) | reinterpret_cast<std::uintptr_t>(p.out)) % 16 == 0;
    if (aligned && p.width % kWide == 0) {
      reduce_bags<T, kWide><<<blocks_of(p.bags * (p.width / kWide), kThreads), kThreads, 0, p.stream>>>(p);
    } else {
      reduce_bags<T, 1><<<blocks_of(p.bags * p.width, kThreads), kThreads, 0, p.stream>>>(p);
    }
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

} // namespace at::native::cuda
