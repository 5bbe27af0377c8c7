#pragma once
#include <c10/util/Half.h>

namespace torch::headeronly {
using c10::Half;
} // namespace torch::headeronly
