#include <csrc/jit/passes/dead_code_elimination.h>

#include <csrc/jit/ir/alias_analysis.h>
#include <csrc/jit/ir/node_kinds.h>

#include <algorithm>
#include <optional>

namespace torch::jit {

namespace {

/// Marks from the end what lives, then removes the rest.
class DeadCodeEliminator {
 public:
  explicit DeadCodeEliminator(DCESideEffectPolicy policy) : policy_(policy) {}
  DeadCodeEliminator(const AliasDb& alias_db, DCESideEffectPolicy policy) : policy_(policy), alias_db_(&alias_db) {
    live_memory_.emplace(alias_db.getValueAndMemoryLocationSet());
  }

  void run(Block* block, bool recurse, const std::function<void(const std::unordered_set<const Value*>&)>& cb) {
    if (!recurse) {
      sweep(block, false);
      return;
    }
    // What a loop carries around lives if the next turn uses it, and what is written if something lives that may be the
    // same memory: until nothing new lives.
    do {
      found_ = false;
      mark_return(block);
    } while (found_ && (any_loop_ || alias_db_));
    if (cb) {
      cb(std::unordered_set<const Value*>(live_list_.begin(), live_list_.end()));
    }
    sweep(block, true);
  }

 private:
  // ---- marks
  void mark_value(Value* value) {
    if (!is_live(value)) {
      if (value->unique() >= live_values_.size()) {
        live_values_.resize(2 * value->unique() + 64);
      }
      live_values_[value->unique()] = 1;
      live_list_.push_back(value);
      found_ = true;
      if (live_memory_) {
        live_memory_->insert(value);
      }
    }
  }

  void mark(Node* node) {
    if (node->kind() == prim::Loop && !node->blocks().empty()) {
      any_loop_ = true;
      mark_loop(node);
      return;
    }
    if (node->kind() == prim::If) {
      mark_if(node);
      return;
    }
    for (Value* input : node->inputs()) {
      mark_value(input);
    }
    for (Block* block : node->blocks()) {
      mark_return(block);
    }
  }

  void mark_return(Block* block) {
    for (Value* output : block->outputs()) {
      mark_value(output);
    }
    mark_nodes(block);
  }

  void mark_if(Node* node) {
    for (Value* input : node->inputs()) {
      mark_value(input);
    }
    for (Block* block : node->blocks()) {
      for (size_t i = 0; i < node->outputs().size(); ++i) {
        if (is_live(node->output(i)) && i < block->outputs().size()) {
          mark_value(block->outputs()[i]);
        }
      }
      mark_nodes(block);
    }
  }

  void mark_loop(Node* node) {
    Block* body = node->blocks()[0];
    const size_t state = node->outputs().size();
    if (node->inputs().size() != state + 2 || body->inputs().size() != state + 1 ||
        body->outputs().size() != state + 1) {
      for (Value* input : node->inputs()) {
        mark_value(input);
      }
      mark_return(body);
      return;
    }
    mark_value(node->input(0));
    mark_value(node->input(1));
    mark_value(body->outputs()[0]);
    mark_nodes(body);
    for (size_t i = 0; i < state; ++i) {
      if (is_live(node->output(i)) || is_live(body->inputs()[i + 1])) {
        mark_value(body->outputs()[i + 1]);
        mark_value(node->input(i + 2));
      }
    }
  }

  void mark_nodes(Block* block) {
    for (Node* node : block->nodes().reverse()) {
      if (must_live(node)) {
        mark(node);
      }
    }
  }

  bool is_live(const Value* value) const {
    return value->unique() < live_values_.size() && live_values_[value->unique()] != 0;
  }

  bool must_live(Node* node) {
    const auto outputs = node->outputs();
    return std::any_of(outputs.begin(), outputs.end(), [this](const Value* value) { return is_live(value); }) ||
        has_effects(node) || writes_what_lives(node);
  }

  bool writes_what_lives(Node* node) {
    if (!alias_db_) {
      return policy_ == DCESideEffectPolicy::DONT_DELETE_NODES_WITH_SIDE_EFFECTS && writes(node);
    }
    return alias_db_->writesToAlias(node, *live_memory_) || alias_db_->writesToWildcard(node);
  }

  bool writes(Node* node) {
    if (node->blocks().empty()) {
      return mayWrite(node);
    }
    const auto [found, fresh] = writes_.try_emplace(node, false);
    if (fresh) {
      bool any = false;
      for (Block* block : node->blocks()) {
        for (Node* inner : block->nodes()) {
          any = any || writes(inner);
        }
      }
      writes_[node] = any;
      return any;
    }
    return found->second;
  }

  // ---- effects
  bool has_effects(Node* node) {
    if (policy_ == DCESideEffectPolicy::ALLOW_DELETING_NODES_WITH_SIDE_EFFECTS) {
      return false;
    }
    if (node->blocks().empty()) {
      return node->hasSideEffects();
    }
    const auto known = effects_.find(node);
    if (known != effects_.end()) {
      return known->second;
    }
    bool any = false;
    for (Block* block : node->blocks()) {
      for (Node* inner : block->nodes()) {
        any = any || has_effects(inner);
      }
    }
    effects_[node] = any;
    return any;
  }

  // ---- removal: from the end, so that what uses a value is gone before the value
  void sweep(Block* block, bool marked) {
    for (auto it = block->nodes().rbegin(); it != block->nodes().rend(); ++it) {
      Node* node = *it;
      const bool live = marked ? must_live(node) : has_effects(node) || writes_what_lives(node);
      if (!live && !node->hasUses()) {
        it.destroyCurrent();
      } else if (marked) {
        sweep_blocks(node);
      }
    }
  }

  void sweep_blocks(Node* node) {
    if (node->kind() == prim::If) {
      remove_dead_results(node);
    } else if (node->kind() == prim::Loop) {
      remove_dead_state(node);
      return;
    }
    for (Block* block : node->blocks()) {
      sweep(block, true);
    }
  }

  static void remove_dead_results(Node* node) {
    for (size_t i = node->outputs().size(); i-- > 0;) {
      if (!node->output(i)->hasUses()) {
        node->eraseOutput(i);
        for (Block* block : node->blocks()) {
          block->eraseOutput(i);
        }
      }
    }
  }

  void remove_dead_state(Node* node) {
    Block* body = node->blocks()[0];
    std::vector<size_t> dead;
    if (body->inputs().size() == node->outputs().size() + 1 && body->outputs().size() == node->outputs().size() + 1) {
      for (size_t i = node->outputs().size(); i-- > 0;) {
        if (!node->output(i)->hasUses() && !is_live(body->inputs()[i + 1])) {
          dead.push_back(i);
          body->eraseOutput(i + 1);
        }
      }
    }
    sweep(body, true);
    for (const size_t i : dead) {
      node->eraseOutput(i);
      node->removeInput(i + 2);
      body->eraseInput(i + 1);
    }
  }

  DCESideEffectPolicy policy_;
  const AliasDb* alias_db_ = nullptr;
  std::optional<ValueAndMemoryLocationSet> live_memory_;
  // By the number of the value, and in the order in which they were found.
  std::vector<char> live_values_;
  std::vector<const Value*> live_list_;
  std::unordered_map<const Node*, bool> effects_;
  std::unordered_map<const Node*, bool> writes_;
  bool found_ = false;
  bool any_loop_ = false;
};

// Inputs of the graph and what is an attribute of them: who writes there is seen from outside.
bool is_from_outside(const Value* value) {
  const Node* node = value->node();
  while (node->kind() == prim::GetAttr) {
    node = node->input(0)->node();
  }
  return node->kind() == prim::Param && !node->owningBlock()->owningNode();
}

bool may_write_inside(const Node* node) {
  if (!mayWrite(node)) {
    return false;
  }
  const std::vector<c10::Argument>& arguments = node->maybeSchema()->arguments();
  for (size_t i = 0; i < node->inputs().size(); ++i) {
    const bool written = i >= arguments.size() || (arguments[i].alias_info() && arguments[i].alias_info()->isWrite());
    if (written && !is_from_outside(node->input(i))) {
      return true;
    }
  }
  return false;
}

// Whether something is written that may be of no use to anybody.
bool any_may_write_inside(const Block* block) {
  for (const Node* node : block->nodes()) {
    for (const Block* inner : node->blocks()) {
      if (any_may_write_inside(inner)) {
        return true;
      }
    }
    if (node->blocks().empty() && may_write_inside(node)) {
      return true;
    }
  }
  return false;
}

} // namespace

void EliminateDeadCode(const std::shared_ptr<Graph>& graph, DCESideEffectPolicy sideEffectPolicy) {
  if (sideEffectPolicy == DCESideEffectPolicy::DONT_DELETE_NODES_WITH_SIDE_EFFECTS &&
      !any_may_write_inside(graph->block())) {
    DeadCodeEliminator(sideEffectPolicy).run(graph->block(), true, nullptr);
    return;
  }
  const AliasDb alias_db(graph);
  DeadCodeEliminator(alias_db, sideEffectPolicy).run(graph->block(), true, nullptr);
}

void EliminateDeadCode(Block* block, bool recurse, DCESideEffectPolicy sideEffectPolicy) {
  DeadCodeEliminator(sideEffectPolicy).run(block, recurse, nullptr);
}

void EliminateDeadCode(
    Block* block,
    std::function<void(const std::unordered_set<const Value*>&)> cb,
    DCESideEffectPolicy sideEffectPolicy) {
  DeadCodeEliminator(sideEffectPolicy).run(block, true, cb);
}

} // namespace torch::jit
