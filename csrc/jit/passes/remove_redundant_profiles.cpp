#include <csrc/jit/passes/remove_redundant_profiles.h>

namespace torch::jit {

namespace {

void remove_profiles(Block* block) {
  for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
    for (Block* inner : (*it)->blocks()) {
      remove_profiles(inner);
    }
    const bool profiles = it->kind() == prim::profile || it->kind() == prim::profile_ivalue;
    if (profiles && it->inputs().size() == it->outputs().size()) {
      for (size_t i = 0; i < it->outputs().size(); ++i) {
        it->output(i)->replaceAllUsesWith(it->input(i));
      }
      it.destroyCurrent();
    }
  }
}

} // namespace

void RemoveRedundantProfiles(Block* block, AliasDb&) {
  remove_profiles(block);
}

void RemoveRedundantProfiles(std::shared_ptr<Graph>& graph) {
  remove_profiles(graph->block());
}

void RemoveProfilingNodes(const std::shared_ptr<Graph>& graph) {
  remove_profiles(graph->block());
}

} // namespace torch::jit
