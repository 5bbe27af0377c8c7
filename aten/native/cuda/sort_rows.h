// Sorting of tensors, in as many launches as it takes.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/native/cuda/sort.h>

namespace at::native::cuda {

/// What one launch sorts.
inline constexpr int64_t kMostSorted = INT32_MAX;

/// Rows of `input`, along the last dimension, to `values`, and their places before to `indices`; all contiguous, with
/// elements. More than `most` elements are sorted in parts: some rows at once, or pieces of a row that are then merged.
void sort_rows(
    const TensorBase& input, bool descending, const Tensor& values, const Tensor& indices, int64_t most = kMostSorted);

/// What is wanted of each sorted row: a run of elements, or one.
struct WantedOfRow {
  Selection what = Selection::Run;
  int64_t first = 0, count = 1;
};
/// Sorts rows along `dim`, which are not empty, in one launch, where they are short and the results contiguous; else
/// returns false. `values` and `indices` (may be undefined) have `count` elements along `dim`, or where that is 1 may
/// lack it.
bool sort_short(
    const TensorBase& self,
    int64_t dim,
    bool descending,
    const WantedOfRow& wanted,
    const TensorBase& values,
    const TensorBase& indices);

/// Longer rows, as many or as short as blocks can select from, a row each.
bool may_select(int64_t rows, int64_t size);

} // namespace at::native::cuda
