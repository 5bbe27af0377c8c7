#include <csrc/jit/passes/lower_grad_of.h>

#include <aten/core/jit_type.h>

#include <algorithm>
#include <unordered_map>

namespace torch::jit {

namespace {

Value* insert_zero(Graph& graph) {
  return graph.insertNode(graph.create(prim::AutogradZero))->output()->setType(TensorType::get());
}

void lower_grad_of(Node* grad_of) {
  Graph& graph = *grad_of->owningGraph();
  const WithInsertPoint guard(grad_of);
  Value* any = graph.insertNode(graph.create(prim::AutogradAnyNonZero, grad_of->inputs()))->output();
  any->setType(BoolType::get());
  Node* condition = graph.insertNode(graph.create(prim::If, {any}, 0));
  Block* nonzero = condition->addBlock();
  nonzero->cloneFrom(grad_of->blocks()[0], [](Value* value) { return value; });
  Block* zero = condition->addBlock();
  const WithInsertPoint in_zero(zero);
  for (Value* output : grad_of->outputs()) {
    zero->registerOutput(insert_zero(graph));
    output->replaceAllUsesWith(condition->addOutput()->copyMetadata(output));
  }
}

void lower_grad_of(Block* block) {
  for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
    for (Block* inner : it->blocks()) {
      lower_grad_of(inner);
    }
    if (it->kind() == gradOf()) {
      lower_grad_of(*it);
      it.destroyCurrent();
    }
  }
}

bool is_autograd_zero(const Value* value) {
  if (value->node()->kind() == prim::AutogradZero) {
    return true;
  }
  const auto type = value->type()->cast<TensorType>();
  return type && type->undefined() == true;
}

bool all_autograd_zero(at::ArrayRef<Value*> values) {
  return std::all_of(values.begin(), values.end(), is_autograd_zero);
}

void specialize_zeros(Block* block) {
  for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
    Node* node = *it;
    for (Block* inner : node->blocks()) {
      specialize_zeros(inner);
    }
    if (node->kind() == gradOf() && all_autograd_zero(node->inputs())) {
      const WithInsertPoint guard(node->next());
      for (Value* output : node->outputs()) {
        output->replaceAllUsesWith(insert_zero(*node->owningGraph()));
      }
      it.destroyCurrent();
    } else if (
        node->kind() == prim::AutogradAdd && (is_autograd_zero(node->input(0)) || is_autograd_zero(node->input(1)))) {
      node->output()->replaceAllUsesWith(node->input(is_autograd_zero(node->input(0)) ? 1 : 0));
      it.destroyCurrent();
    }
  }
}

} // namespace

void LowerGradOf(Graph& g) {
  lower_grad_of(g.block());
}

void specializeAutogradZero(std::shared_ptr<Graph> g) {
  specialize_zeros(g->block());
}

} // namespace torch::jit
