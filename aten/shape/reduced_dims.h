// Dimensions that reductions take.
#pragma once

#include <aten/core/TensorBase.h>

#include <c10/util/OptionalArrayRef.h>

#include <bitset>
#include <cstdint>

namespace at::shape {

/// The dimensions named by `dims`, all when there are none.
/// Throws IndexError when one is out of range, Error when one appears twice or there are more than 64.
std::bitset<64> reduction_mask(c10::OptionalIntArrayRef dims, int64_t ndim);

/// Sizes after reducing the masked dimensions.
c10::DimVector reduced_sizes(const TensorBase& self, const std::bitset<64>& mask, bool keepdim);

} // namespace at::shape
