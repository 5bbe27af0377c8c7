// Nodes that compute what another one has computed are removed.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// Replaces a node by an equal one before it, if the result is the same whichever is used: nothing is random, nothing
/// has side effects and nothing writes to the memory that they read or give. True if something changed.
TORCH_API bool EliminateCommonSubexpression(const std::shared_ptr<Graph>& graph);

/// As above, for nodes whose inputs and outputs cannot be written to, and for what is read of modules in `frozen`
/// classes never. Needs no alias analysis.
TORCH_API bool EliminateCommonImmutableSubexpressions(Graph& graph);

} // namespace torch::jit
