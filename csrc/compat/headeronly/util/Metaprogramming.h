#pragma once
#include <c10/util/Metaprogramming.h>

namespace torch::headeronly {
namespace guts = c10::guts;
} // namespace torch::headeronly
