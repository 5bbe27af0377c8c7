// A Scalar as an element in memory.
#pragma once

#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>

namespace at::native {

/// Writes a number in a dtype, with the overflow checks of Scalar::to. Throws for dtypes without a C++ type, and says
/// `op`. An unsigned dtype has no place for -0.5, though Scalar::to would cut it to 0.
void store_scalar(const char* op, const c10::Scalar& number, c10::ScalarType dtype, void* place);
/// Throws as store_scalar does if the dtype is unsigned and the number a fraction below 0.
void check_unsigned_scalar(const char* op, const c10::Scalar& number, c10::ScalarType dtype);
/// Throws as store_scalar does if the dtype is a floating one, and the number a fraction beyond it.
void check_floating_scalar(const char* op, const c10::Scalar& number, c10::ScalarType dtype);

} // namespace at::native
