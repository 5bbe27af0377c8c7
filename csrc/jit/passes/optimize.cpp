#include <csrc/jit/passes/optimize.h>

#include <csrc/jit/passes/common_subexpression_elimination.h>
#include <csrc/jit/passes/constant_pooling.h>
#include <csrc/jit/passes/constant_propagation.h>
#include <csrc/jit/passes/dead_code_elimination.h>
#include <csrc/jit/passes/inliner.h>
#include <csrc/jit/passes/lower_tuples.h>
#include <csrc/jit/passes/pass_manager.h>
#include <csrc/jit/passes/peephole.h>

namespace torch::jit {

void runCleanupPasses(std::shared_ptr<Graph>& graph) {
  LowerSimpleTuples(graph);
  ConstantPropagationImmutableTypes(graph);
  ConstantPooling(graph);
}

void preoptimizeGraph(std::shared_ptr<Graph>& graph) {
  inlineAsWritten(*graph);
  // The next pass removes dead code.
  applyPeepholes(graph, /*disable_shape_peepholes=*/true);
  ConstantPropagationImmutableTypes(graph);
  ConstantPooling(graph);
}

namespace {

void run_passes(const std::vector<GraphPassEntry>& passes, std::shared_ptr<Graph>& graph) {
  // A pass may register others.
  const std::vector<GraphPassEntry> now = passes;
  for (const GraphPassEntry& pass : now) {
    pass.first(graph);
  }
}

// Tasks run graphs of their own.
void optimize_subgraphs(Block* block) {
  for (Node* node : block->nodes()) {
    for (Block* inner : node->blocks()) {
      optimize_subgraphs(inner);
    }
    if ((node->kind() == prim::fork || node->kind() == prim::awaitable) && node->hasAttribute(attr::Subgraph)) {
      std::shared_ptr<Graph> subgraph = node->g(attr::Subgraph);
      preoptimizeGraph(subgraph);
      optimizeForExecution(subgraph);
    }
  }
}

} // namespace

void optimizeForExecution(std::shared_ptr<Graph>& graph) {
  run_passes(getCustomPrePasses(), graph);
  LowerSimpleTuples(graph->block());
  EliminateCommonImmutableSubexpressions(*graph);
  run_passes(getCustomPostPasses(), graph);
  optimize_subgraphs(graph->block());
}

} // namespace torch::jit
