// Launches of binary search in rows of ascending numbers, and of counting numbers by ranges.
#pragma once

#include <aten/native/cuda/index_error.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// The index of each of `count` values among the `row` edges of its row, before the first one not smaller, or larger
/// (`right`). `per_row` values share a row; all share the only one if that is 0. The search goes on to the right of a
/// NaN, and past the end for one. `order` may say which edge comes where.
struct Search {
  std::int64_t count, row, per_row;
  c10::ScalarType dtype; // integers or floating
  bool right, narrow_places; // results are int32, else int64
  const void *edges, *values;
  const std::int64_t* order;
  void* places;
  IndexCheck check; // of `order`
  cudaStream_t stream;
};
void launch_search(const Search& p);

/// How many of n contiguous numbers are in each of `bins` ranges of equal width from `low` to `high`, which count to
/// the last; added to `counts`, of the same dtype.
struct Histogram {
  std::int64_t n, bins;
  c10::ScalarType dtype; // float or double
  const void* x;
  void* counts;
  double low, high, width; // width: high - low in the dtype
  cudaStream_t stream;
};
void launch_histogram(const Histogram& p);

} // namespace at::native::cuda
