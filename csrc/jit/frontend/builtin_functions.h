// Overloads of operators that are functions of the language themselves.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <vector>

namespace torch::jit {

/// The functions behind the operators of that name, such as `add(int a, Tensor b)` behind aten::add. Calls of them are
/// inlined where they are compiled.
TORCH_API const std::vector<Function*>& getAllBuiltinFunctionsFor(Symbol name);

} // namespace torch::jit
