#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

namespace at::native {

/// The elements that a tensor spans in its storage, from its first to its last.
template <typename T>
T storage_size_for(c10::ArrayRef<T> size, c10::ArrayRef<T> stride) {
  TORCH_CHECK(
      size.size() == stride.size(),
      "storage_size_for(size, stride) requires that size and stride have the same size, got ", size.size(), " and ",
      stride.size());
  T span = 1;
  for (size_t d = 0; d < size.size(); ++d) {
    if (size[d] == 0) {
      return 0;
    }
    span += (size[d] - 1) * stride[d];
  }
  return span;
}

} // namespace at::native
