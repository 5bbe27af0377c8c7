// Where the elements of an IndexWalk or a JointWalk are.
#pragma once

#include <aten/native/cuda/index.h>
#include <aten/native/cuda/index_check.cuh>

namespace at::native::cuda {

struct Place {
  std::int64_t plain, indexed;
};

/// The indices of element i, or false where an index of it is bad or to be passed over.
__device__ inline bool find_place(const IndexWalk& walk, std::uint32_t i, Place& place) {
  const auto offsets = walk.places.get(i);
  place.plain = offsets.of[0];
  std::int64_t index = walk.index[offsets.of[2]];
  if (index == walk.skip || !check_index(walk.check, index, walk.first + offsets.of[2], walk.wrap)) {
    return false;
  }
  place.indexed = offsets.of[1] + index * walk.step;
  return true;
}
__device__ inline bool find_place(const JointWalk& walk, std::uint32_t i, Place& place) {
  const auto offsets = walk.places.get(i);
  place.plain = offsets.of[0];
  place.indexed = offsets.of[1];
#pragma unroll
  for (int k = 0; k < kMostIndices; ++k) {
    if (k < walk.count) {
      const JointWalk::Index& of = walk.index[k];
      const std::uint32_t at = offsets.of[2 + k];
      std::int64_t index = of.data[at];
      if (!check_index({walk.slot, walk.op, walk.argument, of.size, of.dim}, index, of.first + at, /*wrap=*/true)) {
        return false;
      }
      place.indexed += index * of.step;
    }
  }
  return true;
}

} // namespace at::native::cuda
