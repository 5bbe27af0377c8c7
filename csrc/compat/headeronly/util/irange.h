#pragma once
#include <c10/util/irange.h>

namespace torch::headeronly {
using c10::irange;
} // namespace torch::headeronly
