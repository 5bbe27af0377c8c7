// Rows that a team of threads goes over more than once, K neighbours of a thread at a time. Those that are short enough stay in
// registers: memory is read once, and all of it is asked for before the first element is needed.
#pragma once

#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/team.cuh>

#include <cstdint>
#include <initializer_list>

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

/// How rows of T are gone over: by a warp or a block, K neighbours at a time, which lie aligned, kept in registers or not.
template <bool WholeBlock, int K, bool Kept>
struct RowKind {
  static constexpr bool kWholeBlock = WholeBlock, kKept = Kept;
  static constexpr int kWidth = K;
};

/// Elements that a thread keeps at most, and that it reads at a time.
template <class T>
inline constexpr int kKeptElements = sizeof(T) == 8 ? 16 : 32;
template <class T>
inline constexpr int kRowWidth = 16 / sizeof(T);

/// f(kind) for rows of `size` elements of T, one after the other from each of these addresses on.
template <class T, class F>
void with_row_kind(std::int64_t size, std::initializer_list<const void*> rows, F f) {
  bool aligned = size % kRowWidth<T> == 0;
  for (const void* row : rows) {
    aligned = aligned && reinterpret_cast<std::uintptr_t>(row) % 16 == 0;
  }
  const std::int64_t team = size <= kWarpRow ? 32 : team_threads(size);
  const bool kept = aligned && size <= team * kKeptElements<T>;
  if (size <= kWarpRow) {
    kept ? f(RowKind<false, kRowWidth<T>, true>()) : f(RowKind<false, 1, false>());
  } else if (kept) {
    f(RowKind<true, kRowWidth<T>, true>());
  } else {
    aligned ? f(RowKind<true, kRowWidth<T>, false>()) : f(RowKind<true, 1, false>());
  }
}

/// The row at `row`, to the threads that have it together.
template <class Kind, class T>
class Row {
 public:
  static constexpr int K = Kind::kWidth;
  static constexpr bool Kept = Kind::kKept;
  using Threads = Team<Kind::kWholeBlock>;

  __device__ Row(const T* row, std::int64_t size) : row_(row), size_(size) {
    if constexpr (Kept) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int i = place(v);
        if (i < size_) {
          kept_[v] = load<K>(row_ + i);
        }
      }
    }
  }

  /// f(i, x) for K neighbours from number i on, in the order of memory. `x` are wide: R x[K].
  template <class F>
  __device__ void each(F f) const {
    if constexpr (Kept) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int i = place(v);
        if (i < size_) {
          give(f, i, kept_[v]);
        }
      }
    } else {
      for (std::int64_t i = std::int64_t{Threads::rank()} * K; i < size_; i += std::int64_t{Threads::size()} * K) {
        give(f, i, load<K>(row_ + i));
      }
    }
  }
  /// f(i, x, y) with the same neighbours of another row.
  template <class F>
  __device__ void each_with(const Row& other, F f) const {
    if constexpr (Kept) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int i = place(v);
        if (i < size_) {
          give(f, i, kept_[v], other.kept_[v]);
        }
      }
    } else {
      for (std::int64_t i = std::int64_t{Threads::rank()} * K; i < size_; i += std::int64_t{Threads::size()} * K) {
        give(f, i, load<K>(row_ + i), load<K>(other.row_ + i));
      }
    }
  }

 private:
  static constexpr int kVectors = Kept ? kKeptElements<T> / K : 1;
  struct Wide {
    opmath_type<T> values[K];
  };

  static __device__ int place(int v) {
    return (v * Threads::size() + Threads::rank()) * K;
  }
  static __device__ Wide wide(const Aligned<T, K>& x) {
    Wide result;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      result.values[k] = widen(x.values[k]);
    }
    return result;
  }
  template <class F, class I, class... Vectors>
  static __device__ void give(F& f, I i, const Vectors&... vectors) {
    f(i, wide(vectors).values...);
  }

  const T* row_;
  std::int64_t size_;
  Aligned<T, K> kept_[kVectors];
};

} // namespace at::native::cuda
