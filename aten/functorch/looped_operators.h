#pragma once

#include <c10/macros/Export.h>

#include <string>
#include <vector>

namespace at::functorch {

/// Operators that vmap has called sample by sample since the program began, for want of a rule; sorted.
TORCH_API std::vector<std::string> looped_operators();

} // namespace at::functorch
