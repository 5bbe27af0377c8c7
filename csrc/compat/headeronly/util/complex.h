#pragma once
#include <csrc/compat/headeronly/util/complex_utils.h>

namespace torch::headeronly {
using c10::complex;
} // namespace torch::headeronly
