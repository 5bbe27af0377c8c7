// Rows that a group of threads goes over more than once, K neighbours of a thread at a time. Those that are short
// enough stay in registers: memory is read once, and all of it is asked for before the first element is needed.
#pragma once

#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/thread_group.cuh>

#include <cstdint>
#include <initializer_list>
#include <type_traits>

namespace at::native::cuda {

/// K neighbours, which lie aligned.
template <int K, class T>
__device__ inline Aligned<T, K> load(const T* from) {
  return *reinterpret_cast<const Aligned<T, K>*>(from);
}

/// to[k] = value(k) for k < K, which lie aligned.
template <class T, int K, class Value>
__device__ inline void store_each(T* to, Value value) {
  Aligned<T, K> results;
#pragma unroll
  for (int k = 0; k < K; ++k) {
    results.values[k] = narrow<T>(value(k));
  }
  *reinterpret_cast<Aligned<T, K>*>(to) = results;
}

/// How many elements an array of neighbours has.
template <class Array>
inline constexpr int kNeighbours = std::extent_v<std::remove_reference_t<Array>>;

/// How rows of T are gone over: by a warp or a block, K neighbours at a time, which lie aligned, kept in registers or
/// not. Of ragged rows the first and last elements may lie beside what is aligned; a thread takes at most one of them.
template <bool WholeBlock, int K, bool Kept, bool Ragged>
struct RowKind {
  static constexpr bool kWholeBlock = WholeBlock, kKept = Kept, kRagged = Ragged;
  static constexpr int kWidth = K;
};

/// Elements that a thread keeps at most, and that it reads at a time.
template <class T>
inline constexpr int kKeptElements = sizeof(T) == 8 ? 16 : 32;
template <class T>
inline constexpr int kRowWidth = 16 / sizeof(T);

/// f(kind) for rows of `size` elements of T, one after the other from each of these addresses on. Those of an odd size
/// are gone over element by element, or, if `AnySize`, as ragged ones.
template <class T, bool AnySize = false, class F>
void with_row_kind(std::int64_t size, std::initializer_list<const void*> rows, F f) {
  constexpr int K = kRowWidth<T>;
  bool aligned = AnySize || size % K == 0;
  for (const void* row : rows) {
    aligned = aligned && reinterpret_cast<std::uintptr_t>(row) % 16 == 0;
  }
  const std::int64_t group = size <= kWarpRow ? 32 : group_threads(size);
  const bool kept = aligned && size <= group * kKeptElements<T>;
  if (size <= kWarpRow) {
    kept ? f(RowKind<false, K, true, AnySize>()) : f(RowKind<false, 1, false, false>());
  } else if (kept) {
    f(RowKind<true, K, true, AnySize>());
  } else {
    aligned ? f(RowKind<true, K, false, AnySize>()) : f(RowKind<true, 1, false, false>());
  }
}

/// The row at `row`, to the threads that have it together.
template <class Kind, class T>
class Row {
 public:
  static constexpr int K = Kind::kWidth;
  static constexpr bool Kept = Kind::kKept, Ragged = Kind::kRagged;
  using Threads = ThreadGroup<Kind::kWholeBlock>;

  __device__ Row(const T* row, std::int64_t size) : row_(row), end_(size) {
    if constexpr (Ragged) {
      constexpr int kBytes = sizeof(T) * K;
      const auto beyond = static_cast<int>(reinterpret_cast<std::uintptr_t>(row) % kBytes / sizeof(T));
      const int before = (K - beyond) % K;
      begin_ = before < size ? before : static_cast<int>(size);
      end_ = begin_ + (size - begin_) / K * K;
      const int rank = Threads::rank();
      edge_ = rank < begin_ ? rank : rank < begin_ + size - end_ ? end_ + rank - begin_ : -1;
      if (edge_ >= 0) {
        at_edge_ = load<1>(row + edge_);
      }
    }
    if constexpr (Kept) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int i = place(v);
        if (i < end_) {
          kept_[v] = load<K>(row_ + i);
        }
      }
    }
  }

  /// f(i, x...) for neighbours from number i on, of this row and of `others` that lie alike. `x` are wide: R x[K], or
  /// at the ends of ragged rows R x[1].
  template <class F, class... Others>
  __device__ void each(F f, const Others&... others) const {
    if constexpr (Ragged) {
      if (edge_ >= 0) {
        give(f, edge_, at_edge_, others.at_edge_...);
      }
    }
    if constexpr (Kept) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int i = place(v);
        if (i < end_) {
          give(f, i, kept_[v], others.kept_[v]...);
        }
      }
    } else {
      const std::int64_t step = std::int64_t{Threads::size()} * K;
      std::int64_t i = begin_ + std::int64_t{Threads::rank()} * K;
      for (; i + (kBatch - 1) * step < end_; i += kBatch * step) {
        give_batch(f, i, step, batch(i, step), others.batch(i, step)...);
      }
      for (; i < end_; i += step) {
        give(f, i, load<K>(row_ + i), load<K>(others.row_ + i)...);
      }
    }
  }

 private:
  static constexpr int kVectors = Kept ? kKeptElements<T> / K : 1;
  // Of rows that are not kept, as many vectors are asked for before the first is needed.
  static constexpr int kBatch = 4;
  struct Batch {
    Aligned<T, K> vectors[kBatch];
  };
  template <int N>
  struct Wide {
    opmath_type<T> values[N];
  };

  __device__ int place(int v) const {
    return begin_ + (v * Threads::size() + Threads::rank()) * K;
  }
  __device__ Batch batch(std::int64_t i, std::int64_t step) const {
    Batch result;
#pragma unroll
    for (int v = 0; v < kBatch; ++v) {
      result.vectors[v] = load<K>(row_ + i + v * step);
    }
    return result;
  }
  template <int N>
  static __device__ Wide<N> wide(const Aligned<T, N>& x) {
    Wide<N> result;
#pragma unroll
    for (int k = 0; k < N; ++k) {
      result.values[k] = widen(x.values[k]);
    }
    return result;
  }
  template <class F, class I, class... Vectors>
  static __device__ void give(F& f, I i, const Vectors&... vectors) {
    f(i, wide(vectors).values...);
  }
  template <class F, class... Batches>
  static __device__ void give_batch(F& f, std::int64_t i, std::int64_t step, const Batches&... batches) {
#pragma unroll
    for (int v = 0; v < kBatch; ++v) {
      give(f, i + v * step, batches.vectors[v]...);
    }
  }

  const T* row_;
  int begin_ = 0;
  std::int64_t end_; // of the vectors, which begin at begin_
  std::int64_t edge_ = -1; // the element of this thread before or behind them
  Aligned<T, 1> at_edge_ = {};
  Aligned<T, K> kept_[kVectors];
};

} // namespace at::native::cuda
