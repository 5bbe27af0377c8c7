#pragma once
#include <c10/core/ScalarType.h>

namespace torch::headeronly {
using c10::CppTypeToScalarType;
using c10::NumScalarTypes;
using c10::ScalarType;
using c10::isQIntType;
using c10::toString;
using c10::toUnderlying;
} // namespace torch::headeronly
