// What indexing kernels share: index tensors as checked positions, and words of an element's size.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/util/DimVector.h>

#include <complex>
#include <cstdint>
#include <vector>

namespace at::native {

/// Calls f with a value of an integer (or 16-byte) type as wide as an element: moving elements needs no dtype.
template <class F>
void by_element_size(size_t size, F f) {
  switch (size) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
    default:
      return f(std::complex<double>{});
  }
}

/// The values of an index tensor of int32 or int64, in row-major order.
std::vector<int64_t> index_values(const TensorBase& index);

/// Wraps negative values and checks the rest: "index 5 is out of bounds for dimension 0 with size 3" (IndexError).
inline int64_t checked_index(int64_t value, int64_t size, int64_t dim) {
  TORCH_CHECK_INDEX(
      value >= -size && value < size, "index ", value, " is out of bounds for dimension ", dim, " with size ", size);
  return value < 0 ? value + size : value;
}

/// Advanced indexing of `self` worked out: which elements, in which shape.
struct IndexPlan {
  c10::DimVector sizes; // of the result
  c10::DimVector strides; // the result lies in memory as self and the indices do
  c10::DimVector before, after; // sizes of the dimensions around the indexed ones
  c10::DimVector before_strides, after_strides;
  c10::DimVector index_sizes; // broadcast shape of the indices

  /// An indexed dimension of self: its size and stride, and the values of its index, int64 and dense, of shape
  /// index_sizes.
  struct Source {
    Tensor values;
    int64_t size, stride;
  };
  std::vector<Source> sources;
};

/// Not more indices than dimensions, each of a dtype that can be one: what is refused (IndexError) before any value is
/// read.
TORCH_API void check_index_tensors(const Tensor& self, const c10::List<std::optional<Tensor>>& indices);

/// Strides of a result of advanced indexing: its dimensions in the order that self and the indices have in memory.
/// `operands` are the strides of self and of each index over the result's dimensions, 0 where they do not move.
TORCH_API c10::DimVector index_result_strides(IntArrayRef sizes, const std::vector<c10::DimVector>& operands);

} // namespace at::native
