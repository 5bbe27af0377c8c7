#pragma once
#include <csrc/compat/c10/util/bit_cast.h>

namespace torch::headeronly {
using c10::bit_cast;
} // namespace torch::headeronly
