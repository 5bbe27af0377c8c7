// What code outside of the library may want of sparse tensors beside their operators.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/sparse/SparseTensorImpl.h>

namespace at::sparse {

// Says in a signature that the tensor is sparse.
using SparseTensor = Tensor;

/// The implementation object. Throws for a tensor that is not sparse in coordinates.
inline SparseTensorImpl* get_sparse_impl(const SparseTensor& self) {
  TORCH_CHECK(self.is_sparse(), "expected a tensor of layout torch.sparse_coo, but got ", self.layout());
  return static_cast<SparseTensorImpl*>(self.unsafeGetTensorImpl());
}

/// Makes these the indices and values of self, sharing their memory; the result counts as not coalesced.
inline void alias_into_sparse(const SparseTensor& self, const Tensor& indices, const Tensor& values) {
  get_sparse_impl(self)->set_indices_and_values_unsafe(indices, values);
}

/// The same with copies of them.
TORCH_API void copy_into_sparse(
    const SparseTensor& self, const Tensor& indices, const Tensor& values, bool non_blocking);

inline bool is_same_tensor(const Tensor& lhs, const Tensor& rhs) {
  return lhs.is_same(rhs);
}

/// Whether both have as many sparse and as many dense dimensions.
inline bool is_same_density(const SparseTensor& self, const SparseTensor& src) {
  const SparseTensorImpl* a = get_sparse_impl(self);
  const SparseTensorImpl* b = get_sparse_impl(src);
  return a->sparse_dim() == b->sparse_dim() && a->dense_dim() == b->dense_dim();
}

/// Row-major numbers of the indices in `indices` [sparse_dim, nnz], in a tensor with the leading sizes of `full_size`.
/// Throws for an index outside of that, and when the numbers of such a tensor do not fit int64.
TORCH_API Tensor flatten_indices(const Tensor& indices, c10::IntArrayRef full_size, bool force_clone = false);

/// The same over the dimensions `dims_to_flatten` of `sizes` alone.
TORCH_API Tensor
flatten_indices_by_dims(const Tensor& indices, const c10::IntArrayRef& sizes, const c10::IntArrayRef& dims_to_flatten);

/// Where each of `dim` rows begins among `nnz` sorted row numbers, and the end: dim + 1 numbers.
TORCH_API Tensor coo_to_csr(const int64_t* indices, int64_t dim, int64_t nnz);

/// A tensor with the indices of `t` and zeros for values.
TORCH_API Tensor zeros_like_with_indices(const Tensor& t);

/// All indices of a tensor of these sizes, in order: [dimensions, product of the sizes].
TORCH_API Tensor full_coo_indices(c10::IntArrayRef sizes, c10::TensorOptions options);

} // namespace at::sparse
