// Scatters whose order is fixed: the elements of one index are combined one after the other.
#include <aten/native/cuda/index.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/index_place.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/workspace.h>
#include <c10/cuda/CUDAException.h>

#include <optional>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;
// A thread combines up to so many elements. Where one index has more, pieces of that length are combined side by side
// first.
constexpr std::uint32_t kPiece = 64;

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

// The positions in the order of their places.
struct InOrder {
  OrderedWalk walk;
  const std::int64_t* targets;
  const std::int64_t* order;

  __device__ bool same_place(std::uint32_t j, std::uint32_t k) const {
    return j < walk.positions.n && targets[j] == targets[k];
  }
  /// The offset of `plain` at the k-th position.
  __device__ std::uint32_t plain(std::uint32_t k) const {
    return walk.positions.places.get(static_cast<std::uint32_t>(order[k])).of[0];
  }
};

// `value` with what follows on k at its place, to the end of the piece.
template <class Op, class T>
__device__ opmath_type<T> join_rest_of_piece(
    const InOrder& p, opmath_type<T> value, std::uint32_t k, std::uint32_t in_slice, const T* plain) {
  for (std::uint32_t j = k + 1; j % kPiece != 0 && p.same_place(j, k); ++j) {
    value = Op::join(value, widen(plain[p.plain(j) + in_slice]));
  }
  return value;
}

// Pieces that go on with the index of the piece before: to partial[number of the piece, element of the slice].
template <class Op, class T>
__global__ void __launch_bounds__(kThreads)
    join_pieces(InOrder p, std::uint32_t pieces, opmath_type<T>* partial, const T* plain) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  const std::uint32_t k = i / p.walk.slice_size * kPiece, element = i % p.walk.slice_size;
  if (i < pieces * p.walk.slice_size && k > 0 && p.targets[k] != kNoTarget && p.same_place(k - 1, k)) {
    const std::uint32_t in_slice = p.walk.slice.get(element).of[0];
    partial[i] = join_rest_of_piece<Op>(p, widen(plain[p.plain(k) + in_slice]), k, in_slice, plain);
  }
}

// Thread (k, element) serves the index whose elements begin at k.
template <class Op, class T>
__global__ void __launch_bounds__(kThreads)
    join_in_order(InOrder p, const opmath_type<T>* partial, T* indexed, const T* plain) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  const std::uint32_t k = i / p.walk.slice_size, element = i % p.walk.slice_size;
  if (k >= p.walk.positions.n || p.targets[k] == kNoTarget || (k > 0 && p.same_place(k - 1, k))) {
    return;
  }
  const auto offsets = p.walk.slice.get(element);
  T* const to = indexed + p.targets[k] + offsets.of[1];
  opmath_type<T> value = Op::join(widen(*to), widen(plain[p.plain(k) + offsets.of[0]]));
  value = join_rest_of_piece<Op>(p, value, k, offsets.of[0], plain);
  for (std::uint32_t j = (k / kPiece + 1) * kPiece; p.same_place(j, k); j += kPiece) {
    value = Op::join(value, partial[j / kPiece * p.walk.slice_size + element]);
  }
  *to = narrow<T>(value);
}

// The last element of each index is written.
template <class W>
__global__ void __launch_bounds__(kThreads) write_last(InOrder p, W* indexed, const W* plain) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  const std::uint32_t k = i / p.walk.slice_size, element = i % p.walk.slice_size;
  if (k < p.walk.positions.n && p.targets[k] != kNoTarget && !p.same_place(k + 1, k)) {
    const auto offsets = p.walk.slice.get(element);
    indexed[p.targets[k] + offsets.of[1]] = plain[p.plain(k) + offsets.of[0]];
  }
}

template <class Op, class T>
void join(const InOrder& p, T* indexed, const T* plain) {
  using Acc = opmath_type<T>;
  const OrderedWalk& walk = p.walk;
  const cudaStream_t stream = walk.positions.stream;
  const std::uint32_t pieces = (walk.positions.n + kPiece - 1) / kPiece;
  std::optional<Workspace> memory;
  Acc* partial = nullptr;
  if (pieces > 1) {
    memory.emplace(std::size_t{pieces} * walk.slice_size * sizeof(Acc), stream);
    partial = static_cast<Acc*>(memory->data());
    join_pieces<Op><<<blocks_of(std::int64_t{pieces} * walk.slice_size, kThreads), kThreads, 0, stream>>>(
        p, pieces, partial, plain);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
  join_in_order<Op><<<blocks_of(std::int64_t{walk.positions.n} * walk.slice_size, kThreads), kThreads, 0, stream>>>(
      p, partial, indexed, plain);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace

void launch_targets(const IndexWalk& positions, std::int64_t* targets) {
  write_targets<<<blocks_of(positions.n, kThreads), kThreads, 0, positions.stream>>>(positions, targets);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

void launch_ordered_scatter(
    const OrderedWalk& walk,
    const std::int64_t* targets,
    const std::int64_t* order,
    std::size_t size,
    void* indexed,
    const void* plain) {
  with_word(size, [&](auto word) {
    using W = decltype(word);
    write_last<<<
        blocks_of(std::int64_t{walk.positions.n} * walk.slice_size, kThreads), kThreads, 0, walk.positions.stream>>>(
        InOrder{walk, targets, order}, static_cast<W*>(indexed), static_cast<const W*>(plain));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_ordered_scatter_op(
    const OrderedWalk& walk,
    const std::int64_t* targets,
    const std::int64_t* order,
    ScatterOp op,
    c10::ScalarType dtype,
    void* indexed,
    const void* plain) {
  FloatingOrComplexTypes::call(dtype, [&](auto type) {
    using T = decltype(type);
    const InOrder p{walk, targets, order};
    T* const to = static_cast<T*>(indexed);
    const T* const from = static_cast<const T*>(plain);
    op == ScatterOp::Add ? join<SumOf>(p, to, from) : join<ProductOf>(p, to, from);
  });
}

} // namespace at::native::cuda
