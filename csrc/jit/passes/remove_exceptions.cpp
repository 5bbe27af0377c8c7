#include <csrc/jit/passes/remove_exceptions.h>

#include <csrc/jit/passes/constant_propagation.h>
#include <csrc/jit/passes/dead_code_elimination.h>

#include <algorithm>

namespace torch::jit {

namespace {

bool raises(const Block* block) {
  return std::any_of(block->nodes().begin(), block->nodes().end(), [](const Node* node) {
    return node->kind() == prim::RaiseException;
  });
}

// The condition becomes a constant; constant propagation then takes the branch out.
void settle_conditions(Block* block) {
  for (Node* node : block->nodes()) {
    for (Block* inner : node->blocks()) {
      settle_conditions(inner);
    }
    if (node->kind() != prim::If) {
      continue;
    }
    const bool in_first = raises(node->blocks()[0]);
    if (in_first != raises(node->blocks()[1])) {
      const WithInsertPoint guard(node);
      node->replaceInput(0, node->owningGraph()->insertConstant(!in_first));
    }
  }
}

} // namespace

void EliminateExceptions(std::shared_ptr<Graph>& graph) {
  settle_conditions(graph->block());
  ConstantPropagation(graph);
  EliminateDeadCode(graph);
}

} // namespace torch::jit
