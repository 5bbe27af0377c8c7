// All nodes of a graph, one after the other.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// Gives each node before those in its blocks, in the order of the text. The node that was given last may be removed if
/// it has no blocks; others not.
class DepthFirstGraphNodeIterator {
 public:
  explicit DepthFirstGraphNodeIterator(std::shared_ptr<Graph>& graph)
      : graph_(graph), next_(graph->block()->return_node()->next()) {
    settle();
  }

  /// Null at the end.
  Node* next() {
    Node* given = next_;
    if (!given) {
      return nullptr;
    }
    for (Block* block : given->blocks()) {
      next_ = block->return_node()->next();
      settle();
      return given;
    }
    next_ = given->next();
    settle();
    return given;
  }

 private:
  // At the end of a block, goes to the next block of its node, or behind the node.
  void settle() {
    while (next_->kind() == prim::Return) {
      Block* block = next_->owningBlock();
      Node* owner = block->owningNode();
      if (!owner) {
        next_ = nullptr;
        return;
      }
      const at::ArrayRef<Block*> blocks = owner->blocks();
      const bool is_last = blocks.back() == block;
      for (size_t i = 0; !is_last; ++i) {
        if (blocks[i] == block) {
          next_ = blocks[i + 1]->return_node()->next();
          break;
        }
      }
      if (is_last) {
        next_ = owner->next();
      }
    }
  }

  std::shared_ptr<Graph> graph_;
  Node* next_;
};

} // namespace torch::jit
