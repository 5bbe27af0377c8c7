// Launches of gather and scatter, which carry all operators that pick or place elements by index.
#pragma once

#include <aten/native/cuda/OffsetCalculator.h>
#include <aten/native/cuda/index_error.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace at::native::cuda {

/// A walk over n elements. Offsets count elements, of `plain`, of `indexed` without its indexed dimension, and of `index`.
/// The element of `indexed` is `index * step` further. `first` is where `index` begins in its tensor, for messages.
struct IndexWalk {
  std::uint32_t n;
  OffsetCalculator<3> places;
  const std::int64_t* index;
  std::int64_t first;
  std::int64_t step;
  IndexCheck check;
  bool wrap; // negative indices count from the end
  std::int64_t skip; // an index to pass over, or none: INT64_MIN
  cudaStream_t stream;
};

/// The offset at `of[1]` of places.get(i) grows by index * step for the index at `of[0]` of the broadcast index tensor, whose negative
/// values count from the end. Where it is bad, and where an earlier one was, the offset is kNoOffset.
inline constexpr std::int64_t kNoOffset = INT64_MIN;
struct IndexOffsets {
  std::uint32_t n;
  OffsetCalculator<2> places;
  const std::int64_t* index;
  std::int64_t first; // where `index` begins in its tensor, for messages
  std::int64_t step;
  std::int64_t* offsets;
  IndexCheck check;
  cudaStream_t stream;
};
void launch_index_offsets(const IndexOffsets& p);

/// plain = indexed[index], elements of `size` bytes. Where the index is bad: zero.
void launch_gather(const IndexWalk& walk, std::size_t size, void* plain, const void* indexed);
/// indexed[index] = plain. Of several writes to one place any may win.
void launch_scatter(const IndexWalk& walk, std::size_t size, void* indexed, const void* plain);

enum class ScatterOp { Add, Multiply, Greatest, Least };
/// indexed[index] = op(indexed[index], plain), atomically; the order is not fixed.
void launch_scatter_op(
    const IndexWalk& walk, ScatterOp op, c10::ScalarType dtype, void* indexed, const void* plain);

/// The same in a fixed order, for floating and complex elements (op is Add or Multiply), and of several writes the last.
///
/// `positions` are those of the index, in each of which a slice of `slice_size` elements of `plain` goes to `indexed`; `slice` has
/// their offsets. First the place in `indexed` of each position; then they are sorted stably, which gives `targets` and `order`.
struct OrderedWalk {
  IndexWalk positions;
  OffsetCalculator<2> slice;
  std::uint32_t slice_size; // positions.n * slice_size < 2^31
};
inline constexpr std::int64_t kNoTarget = INT64_MAX;
void launch_targets(const IndexWalk& positions, std::int64_t* targets);
void launch_ordered_scatter(
    const OrderedWalk& walk, const std::int64_t* targets, const std::int64_t* order, std::size_t size, void* indexed,
    const void* plain);
void launch_ordered_scatter_op(
    const OrderedWalk& walk, const std::int64_t* targets, const std::int64_t* order, ScatterOp op, c10::ScalarType dtype,
    void* indexed, const void* plain);

} // namespace at::native::cuda
