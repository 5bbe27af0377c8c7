#pragma once
#include <c10/util/TypeCast.h>

namespace torch::headeronly {
using c10::checked_convert;
using c10::convert;
using c10::overflows;
} // namespace torch::headeronly
