#pragma once
#include <c10/util/TypeTraits.h>

namespace torch::headeronly {
namespace guts = c10::guts;
} // namespace torch::headeronly
