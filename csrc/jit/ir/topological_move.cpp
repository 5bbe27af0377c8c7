// Moves of nodes that keep the order of evaluation where it matters.
#include <csrc/jit/ir/alias_analysis.h>

#include <algorithm>

namespace torch::jit {

/// A node that is to be moved, and the nodes that have to move with it.
class AliasDb::WorkingSet {
 public:
  WorkingSet(Node* mover, const AliasDb& db) : db_(db) {
    add(mover);
  }

  void add(Node* node) {
    nodes_.push_back(node);
    reads_.insert(db_.readsOf(node));
    writes_.insert(db_.writesOf(node));
    has_effects_ = has_effects_ || has_effects(node);
  }

  // Forgets the mover: the nodes that moved with it are considered alone.
  void drop_mover() {
    const std::vector<Node*> rest(nodes_.begin() + 1, nodes_.end());
    nodes_.clear();
    reads_ = MemoryLocations();
    writes_ = MemoryLocations();
    has_effects_ = false;
    for (Node* node : rest) {
      add(node);
    }
  }

  // In the order in which they were found, the mover not among them.
  std::vector<Node*> others(bool with_mover) const {
    return std::vector<Node*>(nodes_.begin() + (with_mover ? 1 : 0), nodes_.end());
  }

  // Whether the order of the node and the set must stay.
  bool depends_on(Node* node) const {
    if (nodes_.empty()) {
      return false;
    }
    if ((has_effects_ && has_effects(node)) || uses_or_is_used(node)) {
      return true;
    }
    const MemoryLocations written = db_.writesOf(node);
    return written.intersects(reads_) || written.intersects(writes_) ||
        (!writes_.empty() && writes_.intersects(db_.readsOf(node)));
  }

  static bool has_effects(const Node* node) {
    if (node->kind() != prim::If && node->kind() != prim::Loop && node->hasSideEffects()) {
      return true;
    }
    for (const Block* block : node->blocks()) {
      for (const Node* inner : block->nodes()) {
        if (has_effects(inner)) {
          return true;
        }
      }
    }
    return false;
  }

 private:
  // The node of this block that holds the user.
  static const Node* ancestor_in(const Block* block, const Node* node) {
    while (node && node->owningBlock() != block) {
      node = node->owningBlock() ? node->owningBlock()->owningNode() : nullptr;
    }
    return node;
  }

  static bool uses(const Node* user, const Node* producer) {
    for (const Value* output : producer->outputs()) {
      for (const Use& use : output->uses()) {
        if (ancestor_in(producer->owningBlock(), use.user) == user) {
          return true;
        }
      }
    }
    return false;
  }

  bool uses_or_is_used(const Node* node) const {
    return std::any_of(
        nodes_.begin(), nodes_.end(), [&](const Node* member) { return uses(member, node) || uses(node, member); });
  }

  const AliasDb& db_;
  std::vector<Node*> nodes_;
  MemoryLocations reads_;
  MemoryLocations writes_;
  bool has_effects_ = false;
};

void AliasDb::move(Node* node, Node* place, MoveSide side) {
  if (side == MoveSide::Before) {
    node->moveBefore(place);
  } else {
    node->moveAfter(place);
  }
}

// All nodes from the mover towards the place that must keep their order with what moves go along. If the mover comes to
// stand between those and the place, they have to pass the place without it; otherwise all stay together.
bool AliasDb::tryMove(Node* node, Node* place, MoveSide side, bool dry_run) {
  TORCH_CHECK(node->inBlockList() && place->inBlockList(), "a node is to be moved that is in no block");
  const auto is_end = [](const Node* each) { return each->kind() == prim::Param || each->kind() == prim::Return; };
  if (node->owningBlock() != place->owningBlock() || is_end(node) || place->kind() == prim::Param ||
      (is_end(place) && side == MoveSide::After)) {
    return false;
  }
  if (node == place) {
    return true;
  }
  const int direction = node->isBefore(place) ? kNextDirection : kPrevDirection;
  Node* current = node->next_in_graph[direction];
  const bool is_there = current == place && (side == MoveSide::Before) == (direction == kNextDirection);
  if (is_there) {
    return true;
  }
  // What has effects stays where it is, as in libtorch.
  if (WorkingSet::has_effects(node) || WorkingSet::has_effects(place)) {
    return false;
  }
  WorkingSet moving(node, *this);
  for (; current != place; current = current->next_in_graph[direction]) {
    if (moving.depends_on(current)) {
      moving.add(current);
    }
  }
  const bool others_pass = (side == MoveSide::Before && direction == kNextDirection) ||
      (side == MoveSide::After && direction == kPrevDirection);
  const std::vector<Node*> others = moving.others(true);
  if (others_pass) {
    moving.drop_mover();
  }
  if (moving.depends_on(place)) {
    return false;
  }
  if (dry_run) {
    return true;
  }
  move(node, place, side);
  if (others_pass) {
    const MoveSide opposite = side == MoveSide::Before ? MoveSide::After : MoveSide::Before;
    for (Node* other : others) {
      move(other, current, opposite);
      current = other;
    }
    return true;
  }
  Node* last = node;
  for (Node* other : others) {
    move(other, last, side);
    last = other;
  }
  return true;
}

bool AliasDb::moveAfterTopologicallyValid(Node* node, Node* place) {
  return tryMove(node, place, MoveSide::After, false);
}
bool AliasDb::moveBeforeTopologicallyValid(Node* node, Node* place) {
  return tryMove(node, place, MoveSide::Before, false);
}
bool AliasDb::couldMoveAfterTopologically(Node* node, Node* place) {
  return tryMove(node, place, MoveSide::After, true);
}
bool AliasDb::couldMoveBeforeTopologically(Node* node, Node* place) {
  return tryMove(node, place, MoveSide::Before, true);
}

} // namespace torch::jit
