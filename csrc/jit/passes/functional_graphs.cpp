#include <csrc/jit/passes/functional_graphs.h>

#include <csrc/jit/passes/utils/node_groups.h>
#include <csrc/jit/passes/utils/subgraph_utils.h>

#include <algorithm>

namespace torch::jit {

namespace {

constexpr size_t kLeastNodes = 6;

bool is_functional(Node* node, const AliasDb& aliases) {
  if (node->hasAttribute(attr::Subgraph) || node->hasSideEffects() || node->isNondeterministic() ||
      aliases.isMutable(node) || aliases.hasWriters(node)) {
    return false;
  }
  return std::all_of(node->blocks().begin(), node->blocks().end(), [&](Block* block) {
    return std::all_of(
        block->nodes().begin(), block->nodes().end(), [&](Node* inner) { return is_functional(inner, aliases); });
  });
}

void inline_groups(Block* block) {
  for (auto it = block->nodes().begin(); it != block->nodes().end();) {
    Node* node = *it++;
    for (Block* inner : node->blocks()) {
      inline_groups(inner);
    }
    if (node->kind() == prim::FunctionalGraph) {
      SubgraphUtils::unmergeSubgraph(node);
    }
  }
}

} // namespace

void CreateFunctionalGraphs(const std::shared_ptr<Graph>& graph) {
  NodeGroups(graph, prim::FunctionalGraph, is_functional).dissolve_smaller_than(kLeastNodes);
}

void InlineFunctionalGraphs(const std::shared_ptr<Graph>& graph) {
  inline_groups(graph->block());
}

} // namespace torch::jit
