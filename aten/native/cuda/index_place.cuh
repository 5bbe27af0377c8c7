// Where the elements of an IndexWalk are.
#pragma once

#include <aten/native/cuda/index.h>
#include <aten/native/cuda/index_check.cuh>

namespace at::native::cuda {

struct Place {
  std::int64_t plain, indexed;
};

/// The places of element i, or false where its index is bad or to be passed over.
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

} // namespace at::native::cuda
