#include <csrc/jit/passes/common_subexpression_elimination.h>

#include <csrc/jit/ir/alias_analysis.h>
#include <csrc/jit/ir/node_hashing.h>
#include <csrc/jit/ir/node_kinds.h>

#include <algorithm>
#include <unordered_set>

namespace torch::jit {

namespace {

class SubexpressionEliminator {
 public:
  // Without alias analysis only what cannot be written to is considered.
  SubexpressionEliminator(std::shared_ptr<Graph> graph, bool with_alias_analysis)
      : graph_(std::move(graph)), with_alias_analysis_(with_alias_analysis) {}

  bool run(Block* block) {
    blocks_.emplace_back();
    bool changed = false;
    for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
      Node* node = *it;
      if (!node->blocks().empty()) {
        for (Block* inner : node->blocks()) {
          changed |= run(inner);
        }
        continue;
      }
      Node* same = is_candidate(node) ? find_same(node) : nullptr;
      if (same) {
        node->replaceAllUsesWith(same);
        it.destroyCurrent();
        changed = true;
      }
    }
    blocks_.pop_back();
    return changed;
  }

 private:
  using Nodes = std::unordered_set<Node*, HashNode, EqualNode>;

  static bool immutable(const Node* node) {
    const auto fixed = [](const Value* value) { return !AliasDb::isMutableType(value); };
    const auto inputs = node->inputs();
    const auto outputs = node->outputs();
    return std::all_of(inputs.begin(), inputs.end(), fixed) && std::all_of(outputs.begin(), outputs.end(), fixed);
  }

  bool is_candidate(Node* node) const {
    return !node->outputs().empty() && node->kind() != prim::CreateObject && node->kind() != prim::Uninitialized &&
        node->kind() != prim::Load && (with_alias_analysis_ || immutable(node)) &&
        !node->hasAttribute(attr::Subgraph) && !node->hasSideEffects() && !node->isNondeterministic();
  }

  // In this block or one around it. A node that is not equal to any is remembered.
  Node* find_same(Node* node) {
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
      const auto found = block->find(node);
      if (found != block->end()) {
        if (may_replace(node, *found)) {
          return *found;
        }
        return nullptr;
      }
    }
    blocks_.back().insert(node);
    return nullptr;
  }

  bool may_replace(Node* node, Node* by) {
    if (immutable(node)) {
      return true;
    }
    const AliasDb& db = alias_db();
    return !db.hasInputWriters(node) && !db.hasInputWriters(by) &&
        db.safeToChangeAliasingRelationship(node->outputs(), by->outputs());
  }

  const AliasDb& alias_db() {
    if (!alias_db_) {
      alias_db_ = std::make_unique<AliasDb>(graph_);
    }
    return *alias_db_;
  }

  std::shared_ptr<Graph> graph_;
  bool with_alias_analysis_;
  std::unique_ptr<AliasDb> alias_db_;
  std::vector<Nodes> blocks_;
};

} // namespace

bool EliminateCommonSubexpression(const std::shared_ptr<Graph>& graph) {
  return SubexpressionEliminator(graph, true).run(graph->block());
}

bool EliminateCommonImmutableSubexpressions(Graph& graph) {
  return SubexpressionEliminator(graph.shared_from_this(), false).run(graph.block());
}

} // namespace torch::jit
