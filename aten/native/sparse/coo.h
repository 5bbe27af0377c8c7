// Shared by the kernels of coordinate tensors. They run below autograd: members of sparse tensors carry no history.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/sparse/SparseTensorImpl.h>
#include <aten/sparse/SparseTensorUtils.h>
#include <c10/util/DimVector.h>

namespace at::native {

using at::sparse::get_sparse_impl;

/// A sparse tensor around these members, of the values' dtype and device. Shapes are checked, places are not.
TORCH_API Tensor make_coo(IntArrayRef sizes, const Tensor& indices, const Tensor& values, bool coalesced);

/// One with the places, and whether they are coalesced, of `like`.
inline Tensor with_values(const Tensor& like, const Tensor& values) {
  const SparseTensorImpl* impl = get_sparse_impl(like);
  return make_coo(like.sizes(), impl->indices(), values, impl->coalesced());
}

/// A tensor on the same memory without history, for a member of a sparse tensor.
inline Tensor sparse_member(const Tensor& t) {
  return Tensor(t.unsafeGetTensorImpl()->shallow_copy_and_detach(
      t.unsafeGetTensorImpl()->version_counter(), /*allow_tensor_metadata_change=*/true));
}

/// A vector of int64.
TORCH_API Tensor int64_tensor(IntArrayRef list, Device device);

/// Throws unless all numbers of a dimension of places lie in [0, size). On devices this waits for the device.
TORCH_API void check_places(const Tensor& row, int64_t size, const char* what);

/// Where each of `count` rows begins in a sorted vector of row numbers, and the end: count + 1 numbers.
TORCH_API Tensor row_starts(const Tensor& rows, int64_t count);

/// Throws unless `t` is coordinate sparse; `op` and `name` begin the message.
TORCH_API void check_coo(const char* op, const char* name, const Tensor& t);

/// The tensor with each place once; itself where it is so already.
TORCH_API Tensor coalesced(const Tensor& self);

/// For each of the places (linear, as flatten_indices numbers them) `wanted` the number of the element of `places`,
/// which is not empty, that lies there, or -1.
TORCH_API Tensor element_numbers(const Tensor& places, const Tensor& wanted);

/// Elements of one place: the product of the dense sizes.
TORCH_API int64_t block_size(const Tensor& self);

/// Adds alpha * values[i] to block number places[i] of `out`, which is contiguous, in order. The places were checked.
TORCH_API void add_blocks(const Tensor& out, const Tensor& places, const Tensor& values, const Scalar& alpha);

} // namespace at::native
