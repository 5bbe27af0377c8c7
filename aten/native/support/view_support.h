// Shared by everything that makes views.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/util/DimVector.h>

#include <optional>

namespace at::native {

/// A tensor with the storage, dtype and key set of `self` and another geometry. The geometry is trusted.
Tensor make_view(const Tensor& self, IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset);

/// `make_view` at the same storage offset.
inline Tensor make_view(const Tensor& self, IntArrayRef sizes, IntArrayRef strides) {
  return make_view(self, sizes, strides, self.storage_offset());
}

/// `shape` with its -1, if any, replaced so that it holds `numel` elements.
/// Throws "shape '[...]' is invalid for input of size N" and the like.
TORCH_API c10::DimVector infer_size(IntArrayRef shape, int64_t numel);

/// Strides that view memory of (`sizes`, `strides`) as `new_sizes`, or none when a copy is needed.
TORCH_API std::optional<c10::DimVector> compute_view_strides(
    IntArrayRef sizes, IntArrayRef strides, IntArrayRef new_sizes);

} // namespace at::native
