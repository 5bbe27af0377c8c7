// Columns that a group of threads goes over more than once: elements that lie `inner` apart, in tensors of outer x size
// x inner. What is short enough stays in registers: memory is read once.
#pragma once

#include <aten/native/cuda/memory_access.cuh>

#include <cstddef>
#include <cstdint>

namespace at::native::cuda {

inline constexpr int kColumnThreads = 512;
/// Elements that a thread keeps at most, and that it reads at a time.
inline constexpr int kKeptOfColumn = 16, kColumnBatch = 4;

/// How a block is shared out. Neighbours along x have columns beside each other, those along y share one column, and z
/// are groups, each of which has x columns of one outer index.
struct ColumnGroups {
  int x, y, z;
  bool kept; // in registers
  std::int64_t tiles, groups; // of one outer index, and in all

  ColumnGroups(std::int64_t outer, std::int64_t size, std::int64_t inner, std::size_t itemsize) {
    constexpr int kWarp = 32, kSector = 32; // bytes that memory gives at once
    x = inner < kWarp ? static_cast<int>(inner) : kWarp;
    // Long columns take more threads, as long as neighbours still use whole sectors.
    while (x % 2 == 0 && x / 2 * itemsize >= kSector && size > kKeptOfColumn * (kColumnThreads / x)) {
      x /= 2;
    }
    const std::int64_t batches = (size + kColumnBatch - 1) / kColumnBatch;
    y = batches < kColumnThreads / x ? static_cast<int>(batches) : kColumnThreads / x;
    z = kColumnThreads / (x * y);
    kept = size <= std::int64_t{kKeptOfColumn} * y;
    tiles = (inner + x - 1) / x;
    groups = outer * tiles;
  }
  unsigned blocks() const {
    return static_cast<unsigned>((groups + z - 1) / z);
  }
};

/// What this thread has of its column: `count` elements, `step` apart, from offset `start` on.
struct ColumnShare {
  std::int64_t start, step, count = 0;
  int place; // among the threads of the column
  bool active; // has a place in a group

  __device__ ColumnShare(const ColumnGroups& t, std::int64_t size, std::int64_t inner) {
    const int thread = static_cast<int>(threadIdx.x);
    const int x = thread % t.x, z = thread / t.x / t.y;
    place = thread / t.x % t.y;
    active = z < t.z;
    step = t.y * inner;
    const std::int64_t group = static_cast<std::int64_t>(blockIdx.x) * t.z + z;
    const std::int64_t outer = group / t.tiles, column = group % t.tiles * t.x + x;
    start = (outer * size + place) * inner + column;
    if (active && group < t.groups && column < inner && place < size) {
      count = (size - place - 1) / t.y + 1;
    }
  }
};

/// The values of a share, or `missing` behind its end.
template <bool Kept, class T>
class Column {
 public:
  using R = opmath_type<T>;
  using Batch = R[kColumnBatch];

  __device__ Column(const T* data, const ColumnShare& share, R missing)
      : first_(data + share.start), share_(share), missing_(missing) {
    if constexpr (Kept) {
#pragma unroll
      for (int b = 0; b < kBatches; ++b) {
        read(b * kColumnBatch, kept_[b]);
      }
    }
  }

  /// f(number of the first, values...) for batches of this column and of `others` of the same share.
  template <class F, class... Others>
  __device__ void each(F f, const Others&... others) const {
    if constexpr (Kept) {
#pragma unroll
      for (int b = 0; b < kBatches; ++b) {
        f(b * kColumnBatch, kept_[b], others.kept_[b]...);
      }
    } else {
      for (std::int64_t k = 0; k < share_.count; k += kColumnBatch) {
        give(f, k, loaded(k), others.loaded(k)...);
      }
    }
  }

 private:
  template <bool, class>
  friend class Column;
  static constexpr int kBatches = Kept ? kKeptOfColumn / kColumnBatch : 1;
  struct Loaded {
    Batch values;
  };

  __device__ void read(std::int64_t k, Batch& to) const {
#pragma unroll
    for (int i = 0; i < kColumnBatch; ++i) {
      to[i] = k + i < share_.count ? widen(first_[(k + i) * share_.step]) : missing_;
    }
  }
  __device__ Loaded loaded(std::int64_t k) const {
    Loaded batch;
    read(k, batch.values);
    return batch;
  }
  template <class F, class... Batches>
  static __device__ void give(F& f, std::int64_t k, const Batches&... batches) {
    f(k, batches.values...);
  }

  const T* first_;
  const ColumnShare& share_;
  const R missing_;
  Batch kept_[kBatches];
};

/// to[number k + i of the share] = value(i), for what the share has of a batch.
template <class T, class Value>
__device__ inline void store_batch(T* to, const ColumnShare& share, std::int64_t k, Value value) {
#pragma unroll
  for (int i = 0; i < kColumnBatch; ++i) {
    if (k + i < share.count) {
      to[share.start + (k + i) * share.step] = narrow<T>(value(i));
    }
  }
}

/// What the threads of a column have together, always combined in the same order. All threads of a block come here.
template <class V, class Combine>
__device__ V join_column(V value, const ColumnGroups& t, const ColumnShare& share, Combine combine) {
  __shared__ alignas(16) char memory[kColumnThreads * sizeof(V)];
  V* const parts = reinterpret_cast<V*>(memory);
  const int own = static_cast<int>(threadIdx.x);
  parts[own] = value;
  for (int left = t.y; left > 1;) {
    const int half = (left + 1) / 2;
    __syncthreads();
    if (share.active && share.place < left - half) {
      parts[own] = combine(parts[own], parts[own + half * t.x]);
    }
    left = half;
  }
  __syncthreads();
  return share.active ? parts[own - share.place * t.x] : value;
}

} // namespace at::native::cuda
