// How a reduction walks its input: which dimensions are kept, which are reduced, in what order, and how the work is
// cut. Free of dtypes; the loops live in ../reduce_fold.h.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/OptionalArrayRef.h>
#include <c10/util/SmallVector.h>

#include <bitset>
#include <cstdint>
#include <optional>

namespace at {
class TensorBase;
}

namespace at::native {

using DimMask = std::bitset<64>;

/// One dimension of a walk; strides count elements. `out` is 0 for reduced dimensions.
struct WalkDim {
  int64_t size;
  int64_t in;
  int64_t out;
};

using WalkDims = c10::SmallVector<WalkDim, 5>;

/// Kept and reduced dimensions, outermost first (largest input stride first), neighbours merged where memory allows.
/// The innermost dimension (smallest input stride) is split off: either a reduced `row`, or a kept run of `columns`.
struct ReducePlan {
  WalkDims kept; // without the columns
  WalkDims reduced; // without the row
  int64_t kept_count = 1; // product of `kept`
  int64_t reduced_count = 1; // product of `reduced`
  bool inner_reduced = true;
  WalkDim inner{1, 0, 0};

  int64_t inputs_per_output() const {
    return reduced_count * (inner_reduced ? inner.size : 1);
  }
};

/// The dimensions named by `dims` (checked before by the shape function); all of them when there are none.
DimMask reduced_dims(c10::OptionalIntArrayRef dims, int64_t ndim);
DimMask reduced_dim(std::optional<int64_t> dim, int64_t ndim);

/// The input in a dtype from which a sum can go to `result` in one pass: itself in the common cases.
/// Integers of every width go straight to any integer dtype, since their sums agree modulo the width.
TensorBase sum_input(const TensorBase& self, c10::ScalarType result);

/// The same for reductions that are instantiated for few dtypes: integers come as int64, half and bfloat16 as float.
TensorBase wide_input(const TensorBase& self, c10::ScalarType result);

/// Plan for reducing the masked dimensions of `self` into outputs that sit at `out` (with or without kept size-1 dims).
ReducePlan plan_reduction(const TensorBase& self, const DimMask& reduced, const TensorBase& out);

/// As above, from sizes and strides; `out_strides` has one entry a dimension of the input.
ReducePlan plan_reduction(
    c10::IntArrayRef sizes, c10::IntArrayRef strides, const DimMask& reduced, c10::IntArrayRef out_strides);

/// Strides of `out` spread over the input's dimensions: 0 where reduced.
c10::SmallVector<int64_t, 6> spread_out_strides(int64_t ndim, const DimMask& reduced, const TensorBase& out);

/// Dimensions other than `skip`, size-1 ones dropped, merged where both strides allow. Order of input strides.
WalkDims plan_rows(c10::IntArrayRef sizes, c10::IntArrayRef in_strides, c10::IntArrayRef out_strides, int64_t skip);

/// Counts through the indices of a list of dimensions, last dimension fastest.
class IndexCounter {
 public:
  explicit IndexCounter(const WalkDims& dims, int64_t start = 0) : dims_(dims), index_(dims.size(), 0) {
    for (auto d = static_cast<int64_t>(dims.size()) - 1; d >= 0 && start > 0; --d) {
      const auto& dim = dims[d];
      index_[d] = start % dim.size;
      start /= dim.size;
      in += index_[d] * dim.in;
      out += index_[d] * dim.out;
    }
  }

  void next() {
    for (auto d = static_cast<int64_t>(dims_.size()) - 1; d >= 0; --d) {
      const auto& dim = dims_[d];
      in += dim.in;
      out += dim.out;
      if (++index_[d] < dim.size) {
        return;
      }
      in -= dim.in * dim.size;
      out -= dim.out * dim.size;
      index_[d] = 0;
    }
  }

  int64_t in = 0;
  int64_t out = 0;

 private:
  const WalkDims& dims_;
  c10::SmallVector<int64_t, 6> index_;
};

} // namespace at::native
