#include <csrc/jit/passes/eliminate_no_ops.h>

#include <csrc/jit/passes/container_idioms.h>

namespace torch::jit {

namespace {

bool eliminate(Block* block, const std::unordered_set<c10::Symbol>& kinds, LazyAliasDb& alias_db) {
  bool changed = false;
  for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
    for (Block* inner : it->blocks()) {
      changed |= eliminate(inner, kinds, alias_db);
    }
    if (kinds.count(it->kind()) == 0 || it->inputs().empty() || it->outputs().size() != 1 ||
        alias_db.get().hasWriters(it->input(0)) || alias_db.get().hasWriters(it->output())) {
      continue;
    }
    it->output()->replaceAllUsesWith(it->input(0));
    it.destroyCurrent();
    changed = true;
  }
  return changed;
}

} // namespace

bool EliminateNoOps(std::shared_ptr<Graph>& graph, std::unordered_set<c10::Symbol> custom_ops) {
  custom_ops.insert(Symbol::aten("detach"));
  LazyAliasDb alias_db(graph);
  return eliminate(graph->block(), custom_ops, alias_db);
}

} // namespace torch::jit
