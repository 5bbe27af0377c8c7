// Shared by the kernels of compressed sparse tensors (CSR, CSC, BSR, BSC).
#pragma once

#include <aten/core/Tensor.h>
#include <aten/sparse/SparseCsrTensorImpl.h>
#include <c10/util/DimVector.h>

#include <array>

namespace at::native {

/// The implementation object. Throws for a tensor of another layout.
inline SparseCsrTensorImpl* compressed_impl(const Tensor& self) {
  TORCH_CHECK(
      self.unsafeGetTensorImpl()->is_sparse_compressed(), "expected a sparse compressed tensor, but got layout ",
      self.layout());
  return static_cast<SparseCsrTensorImpl*>(self.unsafeGetTensorImpl());
}

/// Whether a tensor has one of the compressed layouts.
inline bool is_compressed(const Tensor& self) {
  return self.unsafeGetTensorImpl()->is_sparse_compressed();
}
inline bool is_row_compressed(Layout layout) {
  return layout == kSparseCsr || layout == kSparseBsr;
}
inline bool is_blocked(Layout layout) {
  return layout == kSparseBsr || layout == kSparseBsc;
}
inline bool is_compressed_layout(Layout layout) {
  return layout == kSparseCsr || layout == kSparseCsc || is_blocked(layout);
}
/// CSR for CSC and so on: the layout of the transposed matrix with the same members.
Layout transposed_layout(Layout layout);

/// A tensor around these members; they are trusted to fit.
TORCH_API Tensor make_compressed(
    Layout layout,
    IntArrayRef sizes,
    const Tensor& compressed_indices,
    const Tensor& plain_indices,
    const Tensor& values);
/// One with the indices of `like`.
TORCH_API Tensor with_compressed_values(const Tensor& like, const Tensor& values);

/// Rows and columns of a block; ones for CSR and CSC.
std::array<int64_t, 2> block_sizes(const Tensor& self);

/// The indices of a matrix without batch as int64 rows and columns (of blocks): [2, nnz], in the order of the members.
/// Throws where members contradict each other or the size.
TORCH_API Tensor compressed_to_coo_indices(const Tensor& self);

/// A compressed tensor in coordinates, coalesced; those of a batch come first.
TORCH_API Tensor compressed_to_coo(const Tensor& self);
/// `t` in the layout, with the blocks and dense dimensions, of `like`.
TORCH_API Tensor compressed_like(const Tensor& t, const Tensor& like);
/// The other way round. Blocks are needed for BSR and BSC.
TORCH_API Tensor coo_to_compressed(const Tensor& self, Layout layout, OptionalIntArrayRef blocksize);

} // namespace at::native
