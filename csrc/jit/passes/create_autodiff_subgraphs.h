// Parts of a graph that can be differentiated become nodes with subgraphs.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace torch::jit {

/// Collects neighbouring nodes that isDifferentiable() knows in nodes prim::DifferentiableGraph, whose subgraphs
/// differentiate() takes. Fewer than `threshold` nodes stay where they are. Returns the new nodes. Running such a node
/// runs its subgraph; autograd records what is in it.
TORCH_API std::vector<Node*> CreateAutodiffSubgraphs(const std::shared_ptr<Graph>& graph, size_t threshold = 2);

} // namespace torch::jit
