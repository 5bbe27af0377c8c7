#pragma once
#include <c10/util/quint8.h>

namespace torch::headeronly {
using c10::quint8;
} // namespace torch::headeronly
