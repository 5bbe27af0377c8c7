// Sorting of tensors, in as many launches as it takes.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/native/cuda/sort.h>

namespace at::native::cuda {

/// What one launch sorts.
inline constexpr int64_t kMostSorted = INT32_MAX;

/// Rows of `input`, along the last dimension, to `values`, and their places before to `indices`; all contiguous, with elements. More
/// than `most` elements are sorted in parts: some rows at once, or pieces of a row that are then merged.
void sort_rows(
    const TensorBase& input, bool descending, const Tensor& values, const Tensor& indices, int64_t most = kMostSorted);

} // namespace at::native::cuda
