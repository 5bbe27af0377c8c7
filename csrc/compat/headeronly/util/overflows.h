#pragma once
#include <c10/util/overflows.h>

namespace torch::headeronly {
using c10::overflows;
} // namespace torch::headeronly
