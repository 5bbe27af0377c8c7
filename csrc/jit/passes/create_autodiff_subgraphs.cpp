#include <csrc/jit/passes/create_autodiff_subgraphs.h>

#include <csrc/jit/passes/common_subexpression_elimination.h>
#include <csrc/jit/passes/utils/node_groups.h>
#include <csrc/jit/passes/utils/subgraph_utils.h>
#include <csrc/jit/runtime/autodiff.h>

namespace torch::jit {

std::vector<Node*> CreateAutodiffSubgraphs(const std::shared_ptr<Graph>& graph, size_t threshold) {
  NodeGroups groups(
      graph, prim::DifferentiableGraph, [](const Node* node, const AliasDb&) { return isDifferentiable(node); });
  for (Node* group : groups.nodes()) {
    std::shared_ptr<Graph> subgraph = SubgraphUtils::getSubgraph(group);
    EliminateCommonSubexpression(subgraph);
  }
  groups.dissolve_smaller_than(threshold);
  return groups.nodes();
}

} // namespace torch::jit
