// Whether modules have changed, for those who keep what follows from them.
#pragma once

#include <c10/macros/Export.h>

#include <cstdint>

namespace torch::nn {

/// Changes whenever some module of the process is switched between training and evaluation, or gets, loses or replaces
/// a submodule.
TORCH_API uint64_t module_changes();

} // namespace torch::nn
