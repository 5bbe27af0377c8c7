// Operators over lists of tensors (_foreach_*): what the generated loops need.
#pragma once

#include <aten/core/Tensor.h>

#include <initializer_list>

namespace at::native {

/// The common length of the lists of tensors, and of those of numbers beside them. Throws where lengths differ.
inline size_t foreach_count(std::initializer_list<size_t> tensors, std::initializer_list<size_t> scalars) {
  const size_t count = *tensors.begin();
  TORCH_CHECK(count > 0, "Tensor list must have at least one tensor.");
  for (const size_t size : tensors) {
    TORCH_CHECK(size == count, "Tensor lists must have the same number of tensors, got ", count, " and ", size);
  }
  for (const size_t size : scalars) {
    TORCH_CHECK(
        size == count, "Tensor list must have same number of elements as scalar list. Got ", count, " and ", size);
  }
  return count;
}

/// Number `i` of a vector that holds one for each of `count` tensors.
inline Scalar packed_scalar(const Tensor& scalars, size_t i, size_t count) {
  TORCH_CHECK(scalars.is_cpu(), "Expected scalars to be on CPU, got ", scalars.device(), " instead.");
  TORCH_CHECK(scalars.dim() == 1, "Expected packed scalar Tensor to be of dimension 1. Got ", scalars.dim(), " instead.");
  TORCH_CHECK(
      scalars.size(0) == static_cast<int64_t>(count), "Expected length of scalars to match input of length ", count, " but got ",
      scalars.size(0), " instead.");
  return scalars.select(0, static_cast<int64_t>(i)).item();
}

} // namespace at::native
