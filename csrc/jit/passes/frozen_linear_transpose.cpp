#include <csrc/jit/passes/frozen_linear_transpose.h>

#include <csrc/jit/ir/constants.h>

namespace torch::jit {

namespace {

// x @ weight.t() + bias; null if the parameters are not known.
Value* as_product(Node* linear) {
  const std::optional<IValue> weight = toIValue(linear->input(1));
  const std::optional<IValue> bias = toIValue(linear->input(2));
  if (!weight || !weight->isTensor() || weight->toTensor().dim() != 2 || !bias) {
    return nullptr;
  }
  const at::NoGradGuard no_grad;
  Graph& graph = *linear->owningGraph();
  const WithInsertPoint guard(linear);
  Value* transposed = graph.insertConstant(weight->toTensor().t().contiguous().detach());
  Value* result = graph.insert(aten::matmul, {linear->input(0), transposed}, {}, linear->sourceRange());
  if (!bias->isNone()) {
    result = graph.insert(aten::add, {result, linear->input(2)}, {}, linear->sourceRange());
  }
  return result->setType(linear->output()->type());
}

bool transpose(Block* block) {
  bool changed = false;
  for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
    for (Block* inner : it->blocks()) {
      changed |= transpose(inner);
    }
    if (it->kind() != aten::linear || it->inputs().size() != 3) {
      continue;
    }
    Value* result = as_product(*it);
    if (!result) {
      continue;
    }
    it->output()->replaceAllUsesWith(result);
    it.destroyCurrent();
    changed = true;
  }
  return changed;
}

} // namespace

bool FrozenLinearTranspose(std::shared_ptr<Graph>& graph) {
  return transpose(graph->block());
}

} // namespace torch::jit
