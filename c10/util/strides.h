#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/DimVector.h>

#include <algorithm>

namespace c10 {

/// Strides of a contiguous tensor; sizes of zero count as one.
inline DimVector contiguous_strides(IntArrayRef sizes) {
  DimVector strides;
  strides.resize_for_overwrite(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(sizes[i], 1);
  }
  return strides;
}

} // namespace c10
