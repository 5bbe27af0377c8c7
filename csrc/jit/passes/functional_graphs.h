// Pieces of a graph that only compute.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// Nodes that depend on each other, have no effects, and whose values nobody writes to, are taken into
/// prim::FunctionalGraph nodes; groups of less than six stay as they are. Such nodes cannot be run: what has been done
/// to their subgraphs is put back by InlineFunctionalGraphs().
TORCH_API void CreateFunctionalGraphs(const std::shared_ptr<Graph>& graph);
TORCH_API void InlineFunctionalGraphs(const std::shared_ptr<Graph>& graph);

} // namespace torch::jit
