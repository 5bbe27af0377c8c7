// Checks of distances between rows.
#pragma once

#include <aten/core/TensorBase.h>

#include <cstdint>
#include <optional>

namespace at::shape {

/// Checks of cdist with its own messages.
void check_cdist(const TensorBase& x1, const TensorBase& x2, double p, std::optional<int64_t> compute_mode);

} // namespace at::shape
