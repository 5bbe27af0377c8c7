// What graphs go through before they run.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// After a function was compiled: tuples that are made and taken apart, what is known of numbers, equal constants.
TORCH_API void runCleanupPasses(std::shared_ptr<Graph>& graph);

/// Calls are inlined, and what follows from that is simplified: GraphFunction::optimized_graph().
TORCH_API void preoptimizeGraph(std::shared_ptr<Graph>& graph);

/// What the interpreter runs: the optimized graph after registered passes and the library's own. Results, errors and
/// their traces, output and gradients are those of the graph as it was written.
TORCH_API void optimizeForExecution(std::shared_ptr<Graph>& graph);

} // namespace torch::jit
