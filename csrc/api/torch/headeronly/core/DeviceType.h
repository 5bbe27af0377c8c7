#pragma once
#include <c10/core/DeviceType.h>

namespace torch::headeronly {
using c10::DeviceType;
} // namespace torch::headeronly
