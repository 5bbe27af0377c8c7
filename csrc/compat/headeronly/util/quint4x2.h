#pragma once
#include <c10/util/quint4x2.h>

namespace torch::headeronly {
using c10::quint4x2;
} // namespace torch::headeronly
