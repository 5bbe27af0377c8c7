#include <csrc/jit/passes/functional_graphs.h>

#include <csrc/jit/ir/alias_analysis.h>
#include <csrc/jit/passes/utils/subgraph_utils.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace torch::jit {

namespace {

constexpr ptrdiff_t kLeastNodes = 6;

class FunctionalGraphs {
 public:
  explicit FunctionalGraphs(const std::shared_ptr<Graph>& graph) : aliases_(graph) {}

  void run(Block* block) {
    // From the end, so that a node finds what it needs before it.
    for (Node* node = block->return_node()->prev(); node != block->return_node();) {
      if (node->kind() != prim::Constant && is_functional(node)) {
        Node* group = SubgraphUtils::createSingletonSubgraphAndUpdateAliasing(node, prim::FunctionalGraph, aliases_);
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

  void dissolve_small_ones() {
    for (Node* group : groups_) {
      const auto nodes = SubgraphUtils::getSubgraph(group)->nodes();
      const ptrdiff_t count =
          std::count_if(nodes.begin(), nodes.end(), [](Node* node) { return node->kind() != prim::Constant; });
      if (count < kLeastNodes) {
        SubgraphUtils::unmergeSubgraph(group);
      }
    }
  }

 private:
  bool is_functional(Node* node) const {
    if (node->hasAttribute(attr::Subgraph) || node->hasSideEffects() || node->isNondeterministic() ||
        aliases_.isMutable(node) || aliases_.hasWriters(node)) {
      return false;
    }
    return std::all_of(node->blocks().begin(), node->blocks().end(), [&](Block* block) {
      return std::all_of(
          block->nodes().begin(), block->nodes().end(), [&](Node* inner) { return is_functional(inner); });
    });
  }

  // The last of the nodes that make its inputs and may be moved to it.
  bool take_input(Node* group) {
    std::vector<Node*> makers;
    for (Value* input : group->inputs()) {
      Node* maker = input->node();
      if (maker->owningBlock() == group->owningBlock() && maker->kind() != prim::Param &&
          maker->kind() != prim::Constant && is_functional(maker)) {
        makers.push_back(maker);
      }
    }
    std::sort(makers.begin(), makers.end(), [](Node* a, Node* b) { return b->isBefore(a); });
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
  FunctionalGraphs groups(graph);
  groups.run(graph->block());
  groups.dissolve_small_ones();
}

void InlineFunctionalGraphs(const std::shared_ptr<Graph>& graph) {
  inline_groups(graph->block());
}

} // namespace torch::jit
