// The loop under gather, scatter and the operators that take slices by index: elements of two tensors in pairs, where
// the index in one of them comes from an index.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/native/support/convert.h>
#include <aten/native/support/index_rows.h>
#include <aten/parallel/Parallel.h>
#include <c10/util/DimVector.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

namespace at::native {

/// Strides of a tensor for `ndim` dimensions; a 0-dim tensor counts as one of size 1.
inline c10::DimVector strides_of(const TensorBase& t) {
  return t.dim() == 0 ? c10::DimVector{1} : c10::DimVector(t.strides().begin(), t.strides().end());
}

inline c10::DimVector sizes_of(const TensorBase& t) {
  return t.dim() == 0 ? c10::DimVector{1} : c10::DimVector(t.sizes().begin(), t.sizes().end());
}

/// The values of an index tensor in row-major order: its own memory where that will do.
class IndexSpan {
 public:
  explicit IndexSpan(const TensorBase& index) : dense_(Tensor(index).contiguous()) {
    if (index.scalar_type() != kLong) {
      const Tensor wide = empty_contiguous(index.sizes(), kLong, kCPU);
      convert_elements(
          kLong, wide.mutable_data_ptr(), sizeof(int64_t), index.scalar_type(), dense_.const_data_ptr(),
          static_cast<int64_t>(index.itemsize()), index.numel());
      dense_ = wide;
    }
  }

  const Tensor& dense() const {
    return dense_;
  }
  const int64_t* data() const {
    return dense_.const_data_ptr<int64_t>();
  }
  int64_t size() const {
    return dense_.numel();
  }

  /// The first value outside of [0, bound).
  std::optional<int64_t> first_outside(int64_t bound) const {
    const int64_t* values = data();
    const auto is_outside = [bound](int64_t value) {
      return static_cast<uint64_t>(value) >= static_cast<uint64_t>(bound);
    };
    std::atomic<bool> found = false;
    at::parallel_for(0, size(), at::internal::GRAIN_SIZE, [&](int64_t begin, int64_t end) {
      if (any_index_outside(values + begin, end - begin, bound)) {
        found = true;
      }
    });
    return found ? std::optional<int64_t>(*std::find_if(values, values + size(), is_outside)) : std::nullopt;
  }

 private:
  Tensor dense_;
};

/// Pairs of elements: one of tensor `a`, at the index value in dimension `dim` and else at the same index, and one of
/// tensor `b`, at the element's own place.
struct IndexedWalk {
  c10::DimVector sizes; // of the elements: those of the index, or of a slice for each index
  int64_t dim;
  c10::DimVector value_strides; // in the index values; 0 where they do not depend on the dimension
  c10::DimVector a_strides, b_strides;
  int64_t a_size; // of `a` in dimension `dim`
};

/// Functions of pairs that have a form for n of them side by side, f.row(first offset in a, first offset in b, n).
template <class F>
concept TakesRows = requires(const F& f) { f.row(int64_t{}, int64_t{}, int64_t{}); };

/// Functions of pairs that have a form for n elements of one row of `a`: f.picked(offset of the row, indices in it,
/// first offset in b, n).
template <class F>
concept PicksFromRows =
    requires(const F& f, const int64_t* places) { f.picked(int64_t{}, places, int64_t{}, int64_t{}); };

/// Those that ask for a row of b some time before they read it.
template <class F>
concept PrefetchesRows = requires(const F& f) { f.prefetch_row(int64_t{}, int64_t{}); };

/// Those that prefetch n elements side by side of `a`, a whole row, when `picks` of them come next.
template <class F>
concept PrefetchesTargets = requires(const F& f) { f.prefetch_target(int64_t{}, int64_t{}, int64_t{}); };

/// Elements of a row that are worth a thread's own visit to it: a few cache lines.
inline constexpr int64_t kLeastCut = 64;

/// Elements of a row from which threads cut it. Parts of narrower rows are fetched ahead by all of them: each takes
/// whole rows instead, those of groups of so many targets.
inline constexpr int64_t kWideCut = 1024, kTargetGroup = 8;

/// Calls f(offset in a, offset in b) for every pair. Elements that differ in `dim` alone, which may meet in `a`, are
/// seen in order by one thread, unless `free_order` says that only `b` is written.
template <class F>
void for_each_pair(const IndexedWalk& walk, const int64_t* values, bool free_order, F f) {
  const auto ndim = static_cast<int64_t>(walk.sizes.size());
  const int64_t dim = walk.dim;
  const int64_t last = ndim - 1;
  const bool along_last = dim == last;
  const int64_t count = walk.sizes[dim];
  const int64_t length = walk.sizes[last];
  int64_t units = 1; // positions in the dimensions that are neither `dim` nor the last
  for (int64_t d = 0; d < last; ++d) {
    units *= d == dim ? 1 : walk.sizes[d];
  }
  const int64_t total = units * count * (along_last ? 1 : length);
  if (total == 0) {
    return;
  }
  const int64_t threads = at::get_num_threads();
  const bool may_cut = !along_last || free_order;
  const int64_t blocks = units < threads && may_cut ? std::clamp<int64_t>(length / kLeastCut, 1, threads) : 1;
  const int64_t tasks = units * blocks;
  const int64_t a_step = walk.a_strides[dim];
  const int64_t b_step = walk.b_strides[dim];
  const int64_t value_step = walk.value_strides[dim];
  const int64_t a_last = walk.a_strides[last];
  const int64_t b_last = walk.b_strides[last];
  const int64_t value_last = walk.value_strides[last];
  if constexpr (TakesRows<F>) {
    if (units == 1 && blocks > 1 && !along_last && value_last == 0 && a_last == 1 && b_last == 1 &&
        length < threads * kWideCut && total > 2 * 16384) {
      at::parallel_for(0, threads, 1, [&](int64_t begin, int64_t end) {
        // Processors do not guess which row comes next, as it does not follow the last one.
        constexpr size_t kRowsAhead = 2;
        std::vector<int64_t> own;
        own.reserve(count);
        for (int64_t k = 0; k < count; ++k) {
          const int64_t part = values[k * value_step] / kTargetGroup % threads;
          if (part >= begin && part < end) {
            own.push_back(k);
          }
        }
        for (size_t i = 0; i < own.size(); ++i) {
          if constexpr (PrefetchesRows<F>) {
            if (i + kRowsAhead < own.size()) {
              f.prefetch_row(own[i + kRowsAhead] * b_step, length);
            }
          }
          f.row(values[own[i] * value_step] * a_step, own[i] * b_step, length);
        }
      });
      return;
    }
  }
  at::parallel_for(0, tasks, std::max<int64_t>(1, tasks * 16384 / total), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t from = length * (task % blocks) / blocks;
      const int64_t to = length * (task % blocks + 1) / blocks;
      int64_t rest = task / blocks;
      int64_t a = 0;
      int64_t b = 0;
      const int64_t* value = values;
      for (int64_t d = last - 1; d >= 0; --d) {
        if (d != dim) {
          const int64_t i = rest % walk.sizes[d];
          rest /= walk.sizes[d];
          a += i * walk.a_strides[d];
          b += i * walk.b_strides[d];
          value += i * walk.value_strides[d];
        }
      }
      if (along_last) {
        if constexpr (PrefetchesTargets<F>) {
          if (a_step == 1) {
            f.prefetch_target(a, walk.a_size, to - from);
          }
        }
        if (a_step == 1 && b_step == 1 && value_step == 1) {
          if constexpr (PicksFromRows<F>) {
            f.picked(a, value + from, b + from, to - from);
            continue;
          }
          for (int64_t k = from; k < to; ++k) {
            f(a + value[k], b + k);
          }
          continue;
        }
        for (int64_t k = from; k < to; ++k) {
          f(a + value[k * value_step] * a_step, b + k * b_step);
        }
        continue;
      }
      for (int64_t k = 0; k < count; ++k, b += b_step, value += value_step) {
        if (value_last == 0) {
          const int64_t row = a + *value * a_step;
          if constexpr (TakesRows<F>) {
            if (a_last == 1 && b_last == 1) {
              f.row(row + from, b + from, to - from);
              continue;
            }
          }
          for (int64_t j = from; j < to; ++j) {
            f(row + j * a_last, b + j * b_last);
          }
        } else {
          for (int64_t j = from; j < to; ++j) {
            f(a + value[j * value_last] * a_step + j * a_last, b + j * b_last);
          }
        }
      }
    }
  });
}

} // namespace at::native
