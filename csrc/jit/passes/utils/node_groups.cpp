#include <csrc/jit/passes/utils/node_groups.h>

#include <csrc/jit/passes/utils/subgraph_utils.h>

#include <algorithm>
#include <utility>

namespace torch::jit {

NodeGroups::NodeGroups(const std::shared_ptr<Graph>& graph, Symbol kind, Predicate accepts)
    : aliases_(graph), kind_(kind), accepts_(std::move(accepts)) {
  gather(graph->block());
}

bool NodeGroups::accepts(Node* node) const {
  return node->kind() != prim::Param && node->kind() != prim::Constant && accepts_(node, aliases_);
}

// From the end, so that a node finds what it needs before it.
void NodeGroups::gather(Block* block) {
  for (Node* node = block->return_node()->prev(); node != block->return_node();) {
    if (accepts(node)) {
      Node* group = SubgraphUtils::createSingletonSubgraphAndUpdateAliasing(node, kind_, aliases_);
      while (take_input(group)) {
      }
      groups_.push_back(group);
      node = group->prev();
      continue;
    }
    for (Block* inner : node->blocks()) {
      gather(inner);
    }
    node = node->prev();
  }
}

// The last of the nodes that make its inputs and may be moved to it.
bool NodeGroups::take_input(Node* group) {
  std::vector<Node*> makers;
  for (Value* input : group->inputs()) {
    Node* maker = input->node();
    if (maker->owningBlock() == group->owningBlock() && accepts(maker)) {
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

void NodeGroups::dissolve_smaller_than(size_t least) {
  const auto is_small = [least](Node* group) {
    const auto nodes = SubgraphUtils::getSubgraph(group)->nodes();
    const auto count =
        std::count_if(nodes.begin(), nodes.end(), [](Node* node) { return node->kind() != prim::Constant; });
    return static_cast<size_t>(count) < least;
  };
  const auto small = std::stable_partition(groups_.begin(), groups_.end(), std::not_fn(is_small));
  std::for_each(small, groups_.end(), [](Node* group) { SubgraphUtils::unmergeSubgraph(group); });
  groups_.erase(small, groups_.end());
}

} // namespace torch::jit
