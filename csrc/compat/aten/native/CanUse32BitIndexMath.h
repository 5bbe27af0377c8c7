#pragma once

#include <aten/core/TensorBase.h>

#include <cstdint>
#include <limits>

namespace at::native {

/// Can every element be reached with 32-bit numbers and offsets?
inline bool canUse32BitIndexMath(const TensorBase& t, int64_t max_elem = std::numeric_limits<int32_t>::max()) {
  if (t.numel() >= max_elem) {
    return false;
  }
  int64_t last = 0;
  for (int64_t dim = 0; dim < t.dim(); ++dim) {
    if (t.size(dim) == 0) {
      return true;
    }
    last += (t.size(dim) - 1) * t.stride(dim);
  }
  return last < max_elem;
}

} // namespace at::native
