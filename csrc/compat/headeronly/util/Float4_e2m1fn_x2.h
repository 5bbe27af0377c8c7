#pragma once
#include <c10/util/Float4_e2m1fn_x2.h>

namespace torch::headeronly {
using c10::Float4_e2m1fn_x2;
} // namespace torch::headeronly
