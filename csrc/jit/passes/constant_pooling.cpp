#include <csrc/jit/passes/constant_pooling.h>

#include <csrc/jit/ir/alias_analysis.h>
#include <csrc/jit/ir/node_hashing.h>

#include <unordered_set>

namespace torch::jit {

namespace {

class ConstantPool {
 public:
  explicit ConstantPool(std::shared_ptr<Graph> graph) : graph_(std::move(graph)) {}

  void run(Block* block) {
    for (auto it = block->nodes().begin(); it != block->nodes().end();) {
      Node* node = *it++;
      for (Block* inner : node->blocks()) {
        run(inner);
      }
      if (node->kind() == prim::Constant) {
        pool(node);
      }
    }
  }

 private:
  void pool(Node* node) {
    const auto [found, fresh] = constants_.insert(node);
    if (!fresh) {
      Node* existing = *found;
      if (may_replace(node, existing)) {
        // Optionals that are None and None itself are different types, and are not equal.
        node->replaceAllUsesWith(existing);
        node->destroy();
        return;
      }
    }
    Node* first = *graph_->nodes().begin();
    if (node != first) {
      node->moveBefore(first);
    }
  }

  bool may_replace(Node* node, Node* by) {
    if (!AliasDb::isMutableType(node->output())) {
      return true;
    }
    if (!alias_db_) {
      alias_db_ = std::make_unique<AliasDb>(graph_);
    }
    return alias_db_->safeToChangeAliasingRelationship(node->outputs(), by->outputs());
  }

  std::shared_ptr<Graph> graph_;
  std::unique_ptr<AliasDb> alias_db_;
  std::unordered_set<Node*, HashNode, EqualNode> constants_;
};

} // namespace

void ConstantPooling(const std::shared_ptr<Graph>& graph) {
  ConstantPool(graph).run(graph->block());
}

} // namespace torch::jit
