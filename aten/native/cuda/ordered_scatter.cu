// Scatters whose order is fixed: the elements of one place are joined one after the other, by one thread.
#include <aten/native/cuda/index.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/index_place.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

unsigned blocks_of_walk(const IndexWalk& walk) {
  return blocks_of(walk.n, kThreads);
}

__global__ void __launch_bounds__(kThreads) write_targets(IndexWalk walk, std::int64_t* targets) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < walk.n) {
    Place place;
    targets[i] = find_place(walk, i, place) ? place.indexed : kNoTarget;
  }
}

struct SumOf {
  template <class R>
  static __device__ R join(R a, R b) {
    return a + b;
  }
};
struct ProductOf {
  template <class R>
  static __device__ R join(R a, R b) {
    return a * b;
  }
};

// Thread k serves the place whose elements begin at k in the sorted order.
template <class Op, class T>
__global__ void __launch_bounds__(kThreads) join_in_order(
    IndexWalk walk, const std::int64_t* targets, const std::int64_t* order, T* indexed, const T* plain) {
  const std::uint32_t k = blockIdx.x * kThreads + threadIdx.x;
  if (k >= walk.n || targets[k] == kNoTarget || (k > 0 && targets[k - 1] == targets[k])) {
    return;
  }
  auto value = widen(indexed[targets[k]]);
  for (std::uint32_t j = k; j < walk.n && targets[j] == targets[k]; ++j) {
    value = Op::join(value, widen(plain[walk.places.get(static_cast<std::uint32_t>(order[j])).of[0]]));
  }
  indexed[targets[k]] = narrow<T>(value);
}

// The last element of each place is written.
template <class W>
__global__ void __launch_bounds__(kThreads) write_last(
    IndexWalk walk, const std::int64_t* targets, const std::int64_t* order, W* indexed, const W* plain) {
  const std::uint32_t k = blockIdx.x * kThreads + threadIdx.x;
  if (k < walk.n && targets[k] != kNoTarget && (k + 1 == walk.n || targets[k + 1] != targets[k])) {
    indexed[targets[k]] = plain[walk.places.get(static_cast<std::uint32_t>(order[k])).of[0]];
  }
}

} // namespace

void launch_targets(const IndexWalk& walk, std::int64_t* targets) {
  write_targets<<<blocks_of_walk(walk), kThreads, 0, walk.stream>>>(walk, targets);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

void launch_ordered_scatter(
    const IndexWalk& walk, const std::int64_t* targets, const std::int64_t* order, std::size_t size, void* indexed,
    const void* plain) {
  with_word(size, [&](auto word) {
    using W = decltype(word);
    write_last<<<blocks_of_walk(walk), kThreads, 0, walk.stream>>>(
        walk, targets, order, static_cast<W*>(indexed), static_cast<const W*>(plain));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_ordered_scatter_op(
    const IndexWalk& walk, const std::int64_t* targets, const std::int64_t* order, ScatterOp op, c10::ScalarType dtype,
    void* indexed, const void* plain) {
  FloatingOrComplexTypes::call(dtype, [&](auto type) {
    using T = decltype(type);
    T* const to = static_cast<T*>(indexed);
    const T* const from = static_cast<const T*>(plain);
    if (op == ScatterOp::Add) {
      join_in_order<SumOf><<<blocks_of_walk(walk), kThreads, 0, walk.stream>>>(walk, targets, order, to, from);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    } else {
      join_in_order<ProductOf><<<blocks_of_walk(walk), kThreads, 0, walk.stream>>>(walk, targets, order, to, from);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
  });
}

} // namespace at::native::cuda
