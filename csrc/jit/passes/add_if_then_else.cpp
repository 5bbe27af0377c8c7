#include <csrc/jit/passes/add_if_then_else.h>

namespace torch::jit {

namespace {

bool only_chooses(const Node* node) {
  if (node->kind() != prim::If || node->outputs().size() != 1 || node->blocks().size() != 2) {
    return false;
  }
  for (const Block* block : node->blocks()) {
    if (block->nodes().begin() != block->nodes().end()) {
      return false;
    }
  }
  return true;
}

bool add_choices(Block* block) {
  bool changed = false;
  for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
    for (Block* inner : it->blocks()) {
      changed = add_choices(inner) || changed;
    }
    if (!only_chooses(*it)) {
      continue;
    }
    Node* choice = block->owningGraph()->create(
        prim::IfThenElse, {it->input(), it->blocks()[0]->outputs()[0], it->blocks()[1]->outputs()[0]});
    choice->insertBefore(*it)->copyMetadata(*it);
    choice->output()->copyMetadata(it->output());
    it->replaceAllUsesWith(choice);
    it.destroyCurrent();
    changed = true;
  }
  return changed;
}

} // namespace

bool AddIfThenElseOp(std::shared_ptr<Graph>& graph) {
  return add_choices(graph->block());
}

} // namespace torch::jit
