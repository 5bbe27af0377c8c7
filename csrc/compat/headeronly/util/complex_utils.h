#pragma once
#include <c10/util/complex.h>

namespace torch::headeronly {
using c10::is_complex;
using c10::scalar_value_type;
} // namespace torch::headeronly
