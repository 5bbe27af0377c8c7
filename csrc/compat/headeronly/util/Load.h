#pragma once
#include <csrc/compat/c10/util/Load.h>

namespace torch::headeronly {
using c10::load;
} // namespace torch::headeronly
