#include <csrc/jit/passes/optimize.h>

#include <csrc/jit/passes/annotate_warns.h>
#include <csrc/jit/passes/canonicalize.h>
#include <csrc/jit/passes/common_subexpression_elimination.h>
#include <csrc/jit/passes/constant_pooling.h>
#include <csrc/jit/passes/constant_propagation.h>
#include <csrc/jit/passes/dead_code_elimination.h>
#include <csrc/jit/passes/inliner.h>
#include <csrc/jit/passes/lower_tuples.h>
#include <csrc/jit/passes/pass_manager.h>
#include <csrc/jit/passes/peephole.h>

#include <algorithm>

namespace torch::jit {

void runCleanupPasses(std::shared_ptr<Graph>& graph) {
  LowerSimpleTuples(graph);
  ConstantPropagationImmutableTypes(graph);
  ConstantPooling(graph);
  CanonicalizeOutputs(graph);
  AnnotateWarns(graph);
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

bool makes_tuples(const Block* block) {
  const auto is_tuple = [](const Value* value) { return value->type()->kind() == TypeKind::TupleType; };
  for (const Node* node : block->nodes()) {
    if (std::any_of(node->outputs().begin(), node->outputs().end(), is_tuple)) {
      return true;
    }
    for (const Block* inner : node->blocks()) {
      if (std::any_of(inner->inputs().begin(), inner->inputs().end(), is_tuple) || makes_tuples(inner)) {
        return true;
      }
    }
  }
  return false;
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
  // Dead code, which this pass removes, too, is there only where another pass has left it.
  if (!getCustomPrePasses().empty() || makes_tuples(graph->block())) {
    flattenSimpleTuples(graph->block());
  }
  EliminateCommonImmutableSubexpressions(*graph);
  run_passes(getCustomPostPasses(), graph);
  optimize_subgraphs(graph->block());
}

} // namespace torch::jit
