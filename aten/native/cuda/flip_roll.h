// Launches of flip and roll: the same elements in another order along some dimensions.
#pragma once

#include <aten/native/cuda/OffsetCalculator.h>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace at::native::cuda {

/// Position c of the result shows element first + c of `around`, round and round, or first - c. Strides count elements.
struct FlipRollDim {
  FastDivider size;
  std::int64_t first, around;
  bool back;
  std::int64_t from_stride, to_stride;

  HOST_DEVICE std::int64_t shown(std::uint32_t c) const {
    const std::int64_t place = back ? first - c : first + c;
    return place < around ? place : place - around;
  }
};

/// Dimensions fastest first.
struct FlipRoll {
  std::uint32_t n; // elements: below 2^31
  int dims;
  FlipRollDim dim[kMaxDims];
  cudaStream_t stream;
};
/// Elements of `size` bytes.
void launch_flip_roll(const FlipRoll& p, std::size_t size, const void* from, void* to);

} // namespace at::native::cuda
