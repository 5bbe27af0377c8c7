// The same elements in other places: what a kernel must not notice.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace test {

struct Layout {
  std::string name;
  at::Tensor tensor; // same shape and elements as the tensor it was made from, in a storage of its own
};

/// `tensor` as it is, transposed in memory, sliced with steps out of a bigger one, with an offset, and with a
/// dimension that ends in padding. Of 0-dim tensors only those that make sense.
std::vector<Layout> layouts(const at::Tensor& tensor);

/// Copies the elements into memory with these strides and offset (in elements), which must not overlap.
at::Tensor with_strides(const at::Tensor& tensor, const std::vector<int64_t>& strides, int64_t offset = 0);

/// `tensor` expanded to `sizes` with stride 0 in the new and widened dimensions; size 1 or missing ones only.
at::Tensor expanded(const at::Tensor& tensor, const std::vector<int64_t>& sizes);

/// Shapes every operator must live with: 0-dim, one element, empty in the first, middle and last place, a vector
/// longer than any SIMD register, and plain ones of rank 2 to 4.
const std::vector<std::vector<int64_t>>& common_shapes();

} // namespace test
