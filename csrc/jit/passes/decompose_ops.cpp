#include <csrc/jit/passes/decompose_ops.h>

#include <csrc/jit/ir/constants.h>

namespace torch::jit {

namespace {

bool is_one(const Value* factor) {
  const std::optional<IValue> known = toIValue(factor);
  return known && (known->isInt() || known->isDouble()) && known->toScalar().toDouble() == 1;
}

bool is_plain_addmm(const Node* node) {
  return node->matches(
             "aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor") &&
      is_one(node->input(3)) && is_one(node->input(4));
}

Value* product_and_sum(Node* node) {
  Graph& graph = *node->owningGraph();
  const WithInsertPoint guard(node);
  Value* product = graph.insert(aten::mm, {node->input(1), node->input(2)}, {}, node->sourceRange());
  return graph.insert(aten::add, {node->input(0), product}, {}, node->sourceRange());
}

void decompose(Block* block) {
  for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
    for (Block* inner : it->blocks()) {
      decompose(inner);
    }
    if (!is_plain_addmm(*it)) {
      continue;
    }
    Value* sum = product_and_sum(*it)->setType(it->output()->type());
    it->output()->replaceAllUsesWith(sum);
    it.destroyCurrent();
  }
}

} // namespace

void DecomposeOps(std::shared_ptr<Graph>& graph) {
  decompose(graph->block());
}

} // namespace torch::jit
