// Values of graphs that need no inputs.
#pragma once

#include <csrc/jit/ir/ir.h>

namespace torch::jit {

/// The only output of a graph without inputs, which is run. Throws if something in it cannot be run.
TORCH_API IValue evaluateConstant(Graph& graph);

} // namespace torch::jit
