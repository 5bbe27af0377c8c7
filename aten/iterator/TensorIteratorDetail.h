// Shared by the sources of TensorIterator.
#pragma once

#include <aten/iterator/TensorIterator.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace at {

/// What a config fixes instead of taking it from the operands.
struct TensorIteratorBase::Statics {
  const std::optional<DimVector>& shape;
  const std::optional<c10::ScalarType>& dtype;
  const std::optional<c10::Device>& device;
};

namespace detail {

/// Whether a loop that converts (PointwiseRule::loop_converts) takes elements of this dtype too.
constexpr bool loop_may_convert(c10::ScalarType dtype) {
  return !c10::isFloat8Type(dtype) && !c10::isQIntType(dtype) && !c10::isBitsType(dtype);
}

/// Writes the value of a Scalar in its own dtype, which is returned.
c10::ScalarType store_scalar(const c10::Scalar& scalar, void* value);

// Note [Broadcast calls]
// A new tensor from dense CPU tensors that are broadcast over each other, as a bias over rows, is as common as a call
// of the fast path, and once dimensions are merged mostly one of rows. So a PointwiseCall of an iterator may also say
// that: `repeated` is kGrid then, and where the values of scalars would be, of which there are none, it holds a
// PointwiseGrid. Two readers know of it: run_pointwise, and TensorIteratorBase::materialize() for all others.

constexpr std::uint32_t kGrid = ~std::uint32_t{0};

/// The rows of such a call; the output's lie one behind the other.
struct PointwiseGrid {
  std::int64_t row_numel;
  std::int64_t next_row[PointwiseCall::kMax - 1]; // bytes from one row of an input to the next: 0 if they are one
  std::uint32_t repeated; // bit i: operand i is a single value for a row

  static PointwiseGrid of(const PointwiseCall& call) {
    PointwiseGrid grid;
    std::memcpy(&grid, call.values, sizeof(grid));
    return grid;
  }
  void store(PointwiseCall& call) const {
    call.repeated = kGrid;
    std::memcpy(call.values, this, sizeof(*this));
  }
  /// Bytes from one element of an operand to the next, and from one row to the next.
  std::int64_t inner_stride(const PointwiseCall& call, int operand) const {
    return (repeated >> operand) & 1u ? 0 : operand == 0 ? call.output_size : call.input_size;
  }
  std::int64_t outer_stride(const PointwiseCall& call, int operand) const {
    return operand == 0 ? row_numel * call.output_size : next_row[operand - 1];
  }
};
static_assert(sizeof(PointwiseGrid) <= sizeof(PointwiseCall::values) && std::is_trivially_copyable_v<PointwiseGrid>);

} // namespace detail
} // namespace at
