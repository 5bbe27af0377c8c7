// How errors leave the interpreter.
#pragma once

#include <c10/macros/Export.h>

namespace torch::jit {

/// Whether errors leave the interpreter as they were thrown, without the trace of the program. False unless it is set.
TORCH_API bool& rethrowCaughtExceptions();

} // namespace torch::jit
