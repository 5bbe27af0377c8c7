#pragma once
#include <c10/util/qint8.h>

namespace torch::headeronly {
using c10::qint8;
} // namespace torch::headeronly
