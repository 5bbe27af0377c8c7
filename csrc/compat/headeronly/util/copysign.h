#pragma once
#include <csrc/compat/c10/util/copysign.h>

namespace torch::headeronly {
using c10::copysign;
} // namespace torch::headeronly
