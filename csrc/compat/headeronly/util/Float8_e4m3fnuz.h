#pragma once
#include <c10/util/Float8_e4m3fnuz.h>

namespace torch::headeronly {
using c10::Float8_e4m3fnuz;
} // namespace torch::headeronly
