// Sizes and strides with dimensions merged that lie one after the other in memory, for kernels that walk them.
#pragma once

#include <c10/util/Exception.h>

#include <cstdint>
#include <utility>

namespace at {

/// Merges what can be merged of the first `dims` sizes and strides, in place, dimensions of size 1 among it;
/// `excludeDim` stays a dimension of its own. Returns where that is now (-1 without one, 0 where all else is gone), and
/// how many dimensions are left, at least 1.
template <typename T>
std::pair<int64_t, int64_t> collapse_dims(T* sizes, T* strides, int64_t dims, const int excludeDim = -1) {
  TORCH_CHECK(
      excludeDim >= -1 && excludeDim < dims, "collapse_dims: excludeDim must be -1 or one of ", dims,
      " dimensions, got ", excludeDim);
  int64_t count = 0; // dimensions kept so far
  int64_t excluded = -1; // where excludeDim went
  for (int64_t i = 0; i < dims; ++i) {
    const bool keep = i == excludeDim;
    if (!keep && sizes[i] == 1) {
      continue;
    }
    const bool joins = !keep && count > 0 && excluded != count - 1 && strides[count - 1] == sizes[i] * strides[i];
    if (joins) {
      sizes[count - 1] *= sizes[i];
      strides[count - 1] = strides[i];
      continue;
    }
    const T size = sizes[i], stride = strides[i];
    sizes[count] = size;
    strides[count] = stride;
    if (keep) {
      excluded = count;
    }
    ++count;
  }
  // A single element.
  if (count == 0 || (count == 1 && sizes[0] == 1)) {
    sizes[0] = 1;
    strides[0] = 1;
    return {0, 1};
  }
  return {excluded, count};
}

} // namespace at
