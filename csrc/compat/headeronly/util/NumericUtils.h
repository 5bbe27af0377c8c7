#pragma once
#include <csrc/compat/aten/NumericUtils.h>

namespace torch::headeronly {
using at::_isinf;
using at::_isnan;
} // namespace torch::headeronly
