#pragma once
#include <c10/util/quint2x4.h>

namespace torch::headeronly {
using c10::quint2x4;
} // namespace torch::headeronly
