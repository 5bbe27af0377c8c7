#include <csrc/jit/passes/create_autodiff_subgraphs.h>

#include <csrc/jit/ir/alias_analysis.h>
#include <csrc/jit/passes/common_subexpression_elimination.h>
#include <csrc/jit/passes/utils/subgraph_utils.h>
#include <csrc/jit/runtime/autodiff.h>

#include <algorithm>

namespace torch::jit {

namespace {

class AutodiffSubgraphs {
 public:
  explicit AutodiffSubgraphs(const std::shared_ptr<Graph>& graph) : aliases_(graph) {}

  // From the end, so that a node finds what it needs before it.
  void run(Block* block) {
    for (Node* node = block->return_node()->prev(); node != block->param_node() && node != block->return_node();) {
      if (is_differentiable(node)) {
        Node* group =
            SubgraphUtils::createSingletonSubgraphAndUpdateAliasing(node, prim::DifferentiableGraph, aliases_);
        while (take_input(group)) {
        }
        groups_.push_back(group);
        node = group->prev();
        continue;
      }
      for (Block* inner : node->blocks()) {
        run(inner);
      }
      node = node->prev();
    }
  }

  std::vector<Node*> large_ones(size_t threshold) {
    std::vector<Node*> large;
    for (Node* group : groups_) {
      std::shared_ptr<Graph> subgraph = SubgraphUtils::getSubgraph(group);
      EliminateCommonSubexpression(subgraph);
      const auto nodes = subgraph->nodes();
      const auto count =
          std::count_if(nodes.begin(), nodes.end(), [](Node* node) { return node->kind() != prim::Constant; });
      if (static_cast<size_t>(count) < threshold) {
        SubgraphUtils::unmergeSubgraph(group);
      } else {
        large.push_back(group);
      }
    }
    return large;
  }

 private:
  static bool is_differentiable(const Node* node) {
    return node->kind() != prim::Constant && isDifferentiable(node);
  }

  // The last of the nodes that make its inputs and may be moved to it.
  bool take_input(Node* group) {
    std::vector<Node*> makers;
    for (Value* input : group->inputs()) {
      Node* maker = input->node();
      if (maker->owningBlock() == group->owningBlock() && maker->kind() != prim::Param && is_differentiable(maker)) {
        makers.push_back(maker);
      }
    }
    std::sort(makers.begin(), makers.end(), [](const Node* a, const Node* b) { return a->isAfter(b); });
    for (Node* maker : makers) {
      if (aliases_.moveBeforeTopologicallyValid(maker, group)) {
        SubgraphUtils::mergeNodeIntoSubgraphAndUpdateAliasing(maker, group, aliases_);
        return true;
      }
    }
    return false;
  }

  AliasDb aliases_;
  std::vector<Node*> groups_;
};

} // namespace

std::vector<Node*> CreateAutodiffSubgraphs(const std::shared_ptr<Graph>& graph, size_t threshold) {
  AutodiffSubgraphs subgraphs(graph);
  subgraphs.run(graph->block());
  return subgraphs.large_ones(threshold);
}

} // namespace torch::jit
