#pragma once
#include <c10/util/qint32.h>

namespace torch::headeronly {
using c10::qint32;
} // namespace torch::headeronly
