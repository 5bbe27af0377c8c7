// Groups of nodes that depend on each other, each as one node with a subgraph.
#pragma once

#include <csrc/jit/ir/alias_analysis.h>
#include <csrc/jit/ir/ir.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace torch::jit {

/// Takes nodes of a graph that a predicate accepts into nodes of one kind, each with those before it that it needs and
/// that may be moved to it. Constants begin no group.
class NodeGroups {
 public:
  using Predicate = std::function<bool(Node*, const AliasDb&)>;

  NodeGroups(const std::shared_ptr<Graph>& graph, Symbol kind, Predicate accepts);

  /// From the end of the graph to its beginning.
  const std::vector<Node*>& nodes() const {
    return groups_;
  }
  /// Puts the nodes of groups with less than `least` nodes, constants aside, back where they were.
  void dissolve_smaller_than(size_t least);

 private:
  bool accepts(Node* node) const;
  void gather(Block* block);
  bool take_input(Node* group);

  AliasDb aliases_;
  Symbol kind_;
  Predicate accepts_;
  std::vector<Node*> groups_;
};

} // namespace torch::jit
