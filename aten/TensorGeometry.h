// Sizes, strides and offset of a tensor without its data.
#pragma once

#include <aten/core/TensorBase.h>
#include <c10/util/DimVector.h>

#include <algorithm>

namespace at {

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

  bool is_contiguous() const { return contiguous_; }
  int64_t dim() const { return static_cast<int64_t>(sizes_.size()); }
  int64_t size(int64_t dim) const { return sizes_[c10::maybe_wrap_dim(dim, this->dim())]; }
  c10::IntArrayRef sizes() const { return sizes_; }
  int64_t stride(int64_t dim) const { return strides_[c10::maybe_wrap_dim(dim, this->dim())]; }
  c10::IntArrayRef strides() const { return strides_; }
  c10::SymIntArrayRef sym_sizes() const { return c10::fromIntArrayRefSlow(sizes_); }
  c10::SymIntArrayRef sym_strides() const { return c10::fromIntArrayRefSlow(strides_); }
  int64_t storage_offset() const { return storage_offset_; }
  c10::SymInt sym_storage_offset() const { return c10::SymInt(storage_offset_); }
  int64_t numel() const { return numel_; }

 private:
  c10::DimVector sizes_;
  c10::DimVector strides_;
  int64_t storage_offset_ = 0;
  int64_t numel_ = 1;
  bool contiguous_ = true;
};

} // namespace at
