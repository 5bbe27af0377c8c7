// A Scalar as an element in memory.
#pragma once

#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>

namespace at::native {

/// Writes a number in a dtype, with the overflow checks of Scalar::to. Throws for dtypes without a C++ type, and says `op`.
void store_number(const char* op, const c10::Scalar& number, c10::ScalarType dtype, void* place);

} // namespace at::native
