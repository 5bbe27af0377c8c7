#pragma once
#include <c10/util/BFloat16.h>

namespace torch::headeronly {
using c10::BFloat16;
} // namespace torch::headeronly
