// Which nodes are printed where their result is used, instead of giving it a name first.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <unordered_set>

namespace torch::jit {

/// Note [Printed in place]
/// `y = torch.mul(torch.add(a, b), c)` stands for two nodes. A reader evaluates arguments from the left to the right,
/// each with its own arguments before it. A node may be written in place of its result if that gives the graph's order
/// of nodes back: going backwards from a node, through its inputs from the last to the first, what comes next must be
/// the node in the graph before. Constants stand outside of the order.
class PlacedNodes {
 public:
  explicit PlacedNodes(const Block& block) {
    place_block(block);
  }
  /// Whether the node has no line of its own.
  bool contains(const Node* node) const {
    return placed_.count(node) > 0;
  }

 private:
  void place_block(const Block& block);
  void place_inputs(const Node* node);

  std::unordered_set<const Node*> placed_;
};

/// The only thing that is evaluated at any place: constants.
inline bool is_constant_node(const Node* node) {
  return node->kind() == prim::Constant;
}

} // namespace torch::jit
