// The integers that random_ draws from.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/macros/Macros.h>

#include <cstdint>
#include <optional>

namespace at::native {

struct IntegerRange {
  int64_t first = 0;
  /// 0 stands for all of int64.
  uint64_t count = 0;
};

/// The range of random_(from, to) for a dtype: up to `to`, which is left out, or else to the last of the integers that
/// the dtype holds without gaps. Bounds of a floating dtype are moved inwards until no integer between them is rounded
/// to one outside. Throws for an empty range and for bounds that the dtype does not hold, and warns where it does not
/// hold all between them.
TORCH_API IntegerRange random_integer_range(c10::ScalarType dtype, int64_t from, std::optional<int64_t> to);

} // namespace at::native
