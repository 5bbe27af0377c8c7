// Sizes, strides and offset of a tensor without its data.
#pragma once

#include <c10/util/SwapValues.h>
#include <aten/core/TensorBase.h>
#include <c10/util/DimVector.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <utility>

namespace at {

/// Do sizes and strides describe elements one after the other, the last dimension innermost?
inline bool geometry_is_contiguous(c10::IntArrayRef sizes, c10::IntArrayRef strides) {
  uint64_t expected = 1; // that of a tensor without elements may wrap
  bool contiguous = true;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) {
      return true;
    }
    contiguous = contiguous && (sizes[i] == 1 || static_cast<uint64_t>(strides[i]) == expected);
    expected *= static_cast<uint64_t>(sizes[i]);
  }
  return contiguous;
}

/// What is left of a tensor when its memory is not needed.
class TensorGeometry {
 public:
  TensorGeometry() = default;
  explicit TensorGeometry(const TensorBase& t)
      : sizes_(t.sizes().begin(), t.sizes().end()),
        strides_(t.strides().begin(), t.strides().end()),
        storage_offset_(t.storage_offset()),
        numel_(t.numel()),
        contiguous_(t.is_contiguous()) {}
  /// Contiguous, at the start of its storage. Throws when a size is negative.
  explicit TensorGeometry(c10::IntArrayRef sizes) : sizes_(sizes.begin(), sizes.end()), strides_(sizes.size()) {
    int64_t stride = 1;
    for (size_t i = sizes.size(); i-- > 0;) {
      TORCH_CHECK(sizes[i] >= 0, "TensorGeometry: negative size ", sizes[i], " in ", sizes);
      strides_[i] = stride;
      stride *= std::max<int64_t>(sizes[i], 1);
      numel_ *= sizes[i];
    }
  }
  /// Throws when a size is negative or there is not one stride for each.
  explicit TensorGeometry(c10::IntArrayRef sizes, c10::IntArrayRef strides, int64_t storage_offset = 0)
      : TensorGeometry(sizes) {
    TORCH_CHECK(
        sizes.size() == strides.size(), "TensorGeometry: got ", sizes.size(), " sizes and ", strides.size(),
        " strides");
    strides_.assign(strides.begin(), strides.end());
    storage_offset_ = storage_offset;
    recompute();
  }

  bool is_contiguous() const {
    return contiguous_;
  }
  int64_t dim() const {
    return static_cast<int64_t>(sizes_.size());
  }
  int64_t size(int64_t dim) const {
    return sizes_[c10::maybe_wrap_dim(dim, this->dim())];
  }
  c10::IntArrayRef sizes() const {
    return sizes_;
  }
  int64_t stride(int64_t dim) const {
    return strides_[c10::maybe_wrap_dim(dim, this->dim())];
  }
  c10::IntArrayRef strides() const {
    return strides_;
  }
  c10::SymIntArrayRef sym_sizes() const {
    return c10::fromIntArrayRefSlow(sizes_);
  }
  c10::SymIntArrayRef sym_strides() const {
    return c10::fromIntArrayRefSlow(strides_);
  }
  int64_t storage_offset() const {
    return storage_offset_;
  }
  c10::SymInt sym_storage_offset() const {
    return c10::SymInt(storage_offset_);
  }
  int64_t numel() const {
    return numel_;
  }
  c10::SymInt sym_size(int64_t dim) const {
    return size(dim);
  }
  c10::SymInt sym_stride(int64_t dim) const {
    return stride(dim);
  }
  c10::SymInt sym_numel() const {
    return numel_;
  }

  /// The same memory with two dimensions exchanged.
  TensorGeometry transpose(int64_t dim0, int64_t dim1) const {
    TORCH_CHECK_INDEX(
        0 <= dim0 && dim0 < dim() && 0 <= dim1 && dim1 < dim(), "transpose: dimensions ", dim0, " and ", dim1,
        " must lie in [0, ", dim(), ")");
    TensorGeometry result = *this;
    c10::detail::swap_values(result.sizes_[dim0], result.sizes_[dim1]);
    c10::detail::swap_values(result.strides_[dim0], result.strides_[dim1]);
    result.recompute();
    return result;
  }

  /// What is written through these needs recompute() afterwards.
  c10::DimVector& mutable_sizes() {
    return sizes_;
  }
  c10::DimVector& mutable_strides() {
    return strides_;
  }
  int64_t& mutable_storage_offset() {
    return storage_offset_;
  }
  void recompute() {
    numel_ = c10::multiply_integers(sizes_);
    contiguous_ = geometry_is_contiguous(sizes_, strides_);
  }

 private:
  c10::DimVector sizes_;
  c10::DimVector strides_;
  int64_t storage_offset_ = 0;
  int64_t numel_ = 1;
  bool contiguous_ = true;
};

} // namespace at
