#pragma once
#include <csrc/compat/c10/util/TypeSafeSignMath.h>

namespace torch::headeronly {
using c10::greater_than_max;
using c10::is_negative;
using c10::less_than_lowest;
using c10::signs_differ;
using c10::signum;
} // namespace torch::headeronly
