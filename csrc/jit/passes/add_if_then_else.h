// Conditionals that only choose between two values, as one operator.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// Each prim::If with one output and nothing in its blocks becomes `prim::IfThenElse(condition, then, else)`, in blocks
/// of nodes, too. True if something changed.
TORCH_API bool AddIfThenElseOp(std::shared_ptr<Graph>& graph);

} // namespace torch::jit
