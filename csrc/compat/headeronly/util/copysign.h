#pragma once
#include <c10/util/copysign.h>

namespace torch::headeronly {
using c10::copysign;
} // namespace torch::headeronly
