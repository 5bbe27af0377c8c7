#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

namespace at {

/// An ArrayRef read as rows of `stride0` elements.
template <typename T>
class MatrixRef {
 public:
  using size_type = size_t;

  MatrixRef() = default;
  MatrixRef(c10::ArrayRef<T> arr, size_type stride0) : arr_(arr), stride0_(stride0) {
    TORCH_CHECK(
        stride0 > 0 && arr.size() % stride0 == 0, "MatrixRef: ArrayRef size ", arr.size(), " not divisible by stride ",
        stride0);
  }

  bool empty() const {
    return arr_.empty();
  }
  const T* data() const {
    return arr_.data();
  }
  size_t numel() const {
    return arr_.size();
  }
  size_t size(size_t dim) const {
    TORCH_CHECK(dim < 2, "MatrixRef: out of bounds dimension ", dim, "; expected 0 or 1");
    return dim == 1 ? stride0_ : stride0_ == 0 ? 0 : arr_.size() / stride0_;
  }
  bool equals(MatrixRef other) const {
    return stride0_ == other.stride0_ && arr_.equals(other.arr_);
  }
  /// A row.
  c10::ArrayRef<T> operator[](size_t index) const {
    return arr_.slice(index * stride0_, stride0_);
  }

 private:
  c10::ArrayRef<T> arr_;
  size_type stride0_ = 0;
};

} // namespace at
