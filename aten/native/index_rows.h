// The vectorised steps of indexing: checks of index values, and sums of whole rows.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>

namespace at::native {

/// to[i] += from[i] * factor, or to[i] += from[i], for n elements side by side; `factor` points to one of their dtype.
using AddRow = void(void* to, const void* from, std::int64_t n, const void* factor);

/// The AddRow of a dtype for this processor, with the factor or without.
AddRow* add_row_of(c10::ScalarType dtype, bool scaled);

/// Whether one of n values is negative, or not less than `bound`.
bool any_index_outside(const std::int64_t* values, std::int64_t n, std::int64_t bound);

} // namespace at::native
