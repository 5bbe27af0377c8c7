// Launches of gather and scatter, which carry all operators that pick or place elements by index.
#pragma once

#include <aten/native/cuda/OffsetCalculator.h>
#include <aten/native/cuda/index_error.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace at::native::cuda {

/// A walk over n elements. Offsets count elements, of `plain`, of `indexed` without its indexed dimension, and of
/// `index`. The element of `indexed` is `index * step` further. `first` is where `index` begins in its tensor, for
/// messages.
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

/// The same by several indices, each of a dimension of its own, whose negative values count from the end. The element
/// of `indexed` is the sum of all index * step further.
inline constexpr int kMostIndices = 4;
struct JointWalk {
  struct Index {
    const std::int64_t* data;
    std::int64_t first, step, size, dim;
  };
  std::uint32_t n;
  OffsetCalculator<2 + kMostIndices> places; // of plain, indexed, and each index
  int count;
  Index index[kMostIndices];
  IndexErrorSlot* slot;
  const char *op, *argument;
  cudaStream_t stream;
};

/// The offset at `of[1]` of indices.get(i) grows by index * step for the index at `of[0]` of the broadcast index
/// tensor, whose negative values count from the end. Where it is bad, and where an earlier one was, the offset is
/// kNoOffset.
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
void launch_gather(const JointWalk& walk, std::size_t size, void* plain, const void* indexed);
/// indexed[index] = plain. Of several writes to one place any may win.
void launch_scatter(const IndexWalk& walk, std::size_t size, void* indexed, const void* plain);
void launch_scatter(const JointWalk& walk, std::size_t size, void* indexed, const void* plain);
/// indexed[index] = the element that `value` points to, on the host.
void launch_scatter_value(const IndexWalk& walk, std::size_t size, void* indexed, const void* value);

/// Element i of the source goes to the position of the i-th true element of a mask. All are contiguous; `check` is of
/// the number of elements in the source.
struct MaskedScatter {
  std::int64_t n; // elements of the mask
  const std::int64_t *positions, *count; // of the true ones, and how many they are
  IndexCheck check;
  cudaStream_t stream;
};
void launch_masked_scatter(const MaskedScatter& p, std::size_t size, void* to, const void* source);

enum class ScatterOp { Add, Multiply, Max, Min };
/// indexed[index] = op(indexed[index], plain), atomically; the order is not fixed. Of Add, plain is multiplied by the
/// element that `alpha` points to, on the host, if it is given.
void launch_scatter_op(
    const IndexWalk& walk,
    ScatterOp op,
    c10::ScalarType dtype,
    void* indexed,
    const void* plain,
    const void* alpha = nullptr);

/// The same in a fixed order, for floating and complex elements (op is Add or Multiply), and of several writes the
/// last.
///
/// `positions` are those of the index, in each of which a slice of `slice_size` elements of `plain` goes to `indexed`;
/// `slice` has their offsets. First the index in `indexed` of each position; then they are sorted stably, which gives
/// `targets` and `order`.
struct OrderedWalk {
  IndexWalk positions;
  OffsetCalculator<2> slice;
  std::uint32_t slice_size; // positions.n * slice_size < 2^31
};
inline constexpr std::int64_t kNoTarget = INT64_MAX;
void launch_targets(const IndexWalk& positions, std::int64_t* targets);
void launch_ordered_scatter(
    const OrderedWalk& walk,
    const std::int64_t* targets,
    const std::int64_t* order,
    std::size_t size,
    void* indexed,
    const void* plain);
void launch_ordered_scatter_op(
    const OrderedWalk& walk,
    const std::int64_t* targets,
    const std::int64_t* order,
    ScatterOp op,
    c10::ScalarType dtype,
    void* indexed,
    const void* plain);

} // namespace at::native::cuda
