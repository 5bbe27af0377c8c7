#pragma once

#include <c10/macros/Macros.h>

namespace at::detail {

/// An array of fixed size that kernels take by value.
template <typename T, int size_>
struct Array {
  T data[size_];

  Array() = default;
  /// All elements are `x`.
  C10_HOST_DEVICE Array(T x) {
    for (int i = 0; i < size_; ++i) {
      data[i] = x;
    }
  }

  C10_HOST_DEVICE T operator[](int i) const {
    return data[i];
  }
  C10_HOST_DEVICE T& operator[](int i) {
    return data[i];
  }
  static constexpr int size() {
    return size_;
  }
};

} // namespace at::detail
