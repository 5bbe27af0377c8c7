#pragma once
#include <c10/util/Float8_e8m0fnu.h>

namespace torch::headeronly {
using c10::Float8_e8m0fnu;
} // namespace torch::headeronly
