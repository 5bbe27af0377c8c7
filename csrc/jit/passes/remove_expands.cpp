#include <csrc/jit/passes/remove_expands.h>

#include <csrc/jit/ir/constants.h>

namespace torch::jit {

namespace {

void remove_expands(Block* block) {
  for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
    for (Block* inner : (*it)->blocks()) {
      remove_expands(inner);
    }
    if (it->kind() != aten::expand || it->inputs().size() != 3) {
      continue;
    }
    const std::optional<IValue> implicit = toIValue(it->input(2));
    if (implicit && ((implicit->isBool() && implicit->toBool()) || (implicit->isInt() && implicit->toInt() != 0))) {
      it->output()->replaceAllUsesWith(it->input(0));
      it.destroyCurrent();
    }
  }
}

} // namespace

void RemoveExpands(const std::shared_ptr<Graph>& graph) {
  remove_expands(graph->block());
}

} // namespace torch::jit
