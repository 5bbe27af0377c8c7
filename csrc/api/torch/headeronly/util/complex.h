#pragma once
#include <c10/util/complex.h>

namespace torch::headeronly {
using c10::complex;
} // namespace torch::headeronly
