// Checks of concatenation and splitting, for programs with such operators of their own.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/WrapDimUtils.h>

#include <algorithm>
#include <cstdint>

namespace at::native {

/// A copy with the strides of `self` and so much of its storage as they span: expanded dimensions stay expanded.
TORCH_API Tensor clone_preserve_strides(const Tensor& self);

/// Vectors without elements are left out of a concatenation, whatever its other shapes.
inline bool cat_should_skip_tensor(const Tensor& t) {
  return t.numel() == 0 && t.dim() == 1;
}

inline void check_cat_shape_except_dim(const Tensor& first, const Tensor& second, int64_t dimension, int64_t index) {
  TORCH_CHECK(
      first.dim() == second.dim(), "Tensors must have same number of dimensions: got ", first.dim(), " and ",
      second.dim());
  for (int64_t d = 0; d < first.dim(); ++d) {
    TORCH_CHECK(
        d == dimension || first.size(d) == second.size(d), "Sizes of tensors must match except in dimension ",
        dimension, ". Expected size ", first.size(d), " but got size ", second.size(d), " for tensor number ", index,
        " in the list.");
  }
}

/// `tensors`: anything that is walked by `for (const Tensor& t : tensors)`.
template <class Tensors>
void check_cat_no_zero_dim(const Tensors& tensors) {
  int64_t i = 0;
  for (const Tensor& t : tensors) {
    TORCH_CHECK(t.dim() > 0, "zero-dimensional tensor (at position ", i, ") cannot be concatenated");
    ++i;
  }
}

inline int64_t get_num_splits(const Tensor& self, int64_t split_size, int64_t dim) {
  TORCH_CHECK(self.dim() != 0, "split expects at least a 1-dimensional tensor");
  TORCH_CHECK(split_size >= 0, "split expects split_size be non-negative, but got split_size=", split_size);
  const int64_t size = self.size(dim);
  TORCH_CHECK(
      split_size > 0 || size == 0, "split_size can only be 0 if dimension size is 0, but got dimension size of ", size);
  return split_size == 0 ? 1 : std::max<int64_t>(size / split_size + (size % split_size != 0), 1);
}

inline bool have_same_ndims(TensorList tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.dim() == tensors[0].dim(); });
}

/// Throws unless the first `dim` dimensions agree.
inline void leading_dimension_matches(TensorList tensors, int64_t dim) {
  for (const Tensor& t : tensors) {
    for (int64_t d = 0; d < dim; ++d) {
      TORCH_CHECK(
          t.size(d) == tensors[0].size(d), "_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors");
    }
  }
}

} // namespace at::native
