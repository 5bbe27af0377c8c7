#pragma once

#include <c10/util/SmallVector.h>

#include <cstddef>
#include <cstdint>

namespace c10 {

constexpr size_t kDimVectorStaticSize = 5;

/// Sizes or strides of a tensor.
using DimVector = SmallVector<int64_t, kDimVectorStaticSize>;

} // namespace c10
