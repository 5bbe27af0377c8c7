// Dimensions that count from the end.
#pragma once

#include <aten/core/IListRef.h>
#include <aten/core/Tensor.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/WrapDimMinimal.h>

#include <vector>

namespace at {

using c10::maybe_wrap_dim;

inline int64_t maybe_wrap_dim(int64_t dim, c10::TensorImpl* tensor) {
  return maybe_wrap_dim(dim, tensor->dim());
}

/// Of the first tensor; without any the dimension stays as it is.
inline int64_t maybe_wrap_dim(int64_t dim, TensorList tensors) {
  return tensors.empty() ? dim : maybe_wrap_dim(dim, tensors[0].dim());
}
inline int64_t maybe_wrap_dim(int64_t dim, const std::vector<std::vector<int64_t>>& tensor_sizes) {
  return tensor_sizes.empty() ? dim : maybe_wrap_dim(dim, static_cast<int64_t>(tensor_sizes[0].size()));
}

/// Wraps each of `ndims` dimensions in place. Throws IndexError when one is out of range; with `wrap_scalars` a tensor
/// without dimensions is taken to have one.
inline void maybe_wrap_dims_n(int64_t* dims, int64_t ndims, int64_t dim_post_expr, bool wrap_scalars = true) {
  for (int64_t i = 0; i < ndims; ++i) {
    dims[i] = maybe_wrap_dim(dims[i], dim_post_expr, wrap_scalars);
  }
}
template <typename Container>
void maybe_wrap_dims(Container& dims, int64_t dim_post_expr, bool wrap_scalars = true) {
  maybe_wrap_dims_n(dims.data(), static_cast<int64_t>(dims.size()), dim_post_expr, wrap_scalars);
}
inline void wrap_all_dims(std::vector<int64_t>& dims_to_wrap, int64_t tensor_total_dims) {
  maybe_wrap_dims(dims_to_wrap, tensor_total_dims);
}

/// For cat, which passes over tensors of shape [0]: the first other one counts.
inline int64_t legacy_cat_wrap_dim(int64_t dim, const std::vector<std::vector<int64_t>>& tensor_sizes) {
  for (const std::vector<int64_t>& sizes : tensor_sizes) {
    if (sizes.size() != 1 || sizes[0] != 0) {
      return maybe_wrap_dim(dim, static_cast<int64_t>(sizes.size()));
    }
  }
  return dim;
}
inline int64_t legacy_cat_wrap_dim(int64_t dim, const ITensorListRef& tensors) {
  for (const Tensor& tensor : tensors) {
    if (tensor.dim() != 1 || tensor.size(0) != 0) {
      return maybe_wrap_dim(dim, tensor.dim());
    }
  }
  return dim;
}

} // namespace at
