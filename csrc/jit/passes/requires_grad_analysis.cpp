#include <csrc/jit/passes/requires_grad_analysis.h>

#include <aten/core/jit_type.h>

#include <algorithm>

namespace torch::jit {

namespace {

bool any_requires_grad(at::ArrayRef<Value*> values) {
  return std::any_of(values.begin(), values.end(), [](const Value* value) { return value->requires_grad(); });
}

void set_requires_grad(Value* value, bool requires_grad) {
  if (const auto type = value->type()->cast<TensorType>()) {
    const std::optional<at::ScalarType> dtype = type->scalarType();
    const bool has_gradients = !dtype || at::isFloatingType(*dtype) || at::isComplexType(*dtype);
    value->setType(type->withRequiresGrad(requires_grad && has_gradients));
  }
}

void propagate_requires_grad(Block* block);

void propagate_if(Node* node) {
  for (Block* block : node->blocks()) {
    propagate_requires_grad(block);
  }
  for (size_t i = 0; i < node->outputs().size(); ++i) {
    const auto blocks = node->blocks();
    set_requires_grad(node->output(i), std::any_of(blocks.begin(), blocks.end(), [&](Block* block) {
                        return block->outputs()[i]->requires_grad();
                      }));
  }
}

// What a turn gives is what the next one takes: until nothing changes, and each change is one towards true.
void propagate_loop(Node* node) {
  Block* body = node->blocks()[0];
  const size_t state = node->outputs().size();
  for (size_t i = 0; i < state; ++i) {
    set_requires_grad(body->inputs()[i + 1], node->input(i + 2)->requires_grad());
  }
  for (bool changed = true; changed;) {
    changed = false;
    propagate_requires_grad(body);
    for (size_t i = 0; i < state; ++i) {
      Value* taken = body->inputs()[i + 1];
      if (body->outputs()[i + 1]->requires_grad() && !taken->requires_grad()) {
        set_requires_grad(taken, true);
        changed = changed || taken->requires_grad();
      }
    }
  }
  for (size_t i = 0; i < state; ++i) {
    set_requires_grad(
        node->output(i), body->inputs()[i + 1]->requires_grad() || body->outputs()[i + 1]->requires_grad());
  }
}

bool makes_requires_grad(Node* node) {
  // Its own type tells.
  if (node->kind() == prim::Constant || node->kind() == prim::GetAttr) {
    return any_requires_grad(node->outputs());
  }
  const bool takes_containers = std::any_of(node->inputs().begin(), node->inputs().end(), [](const Value* value) {
    const TypeKind kind = value->type()->kind();
    return kind == TypeKind::ListType || kind == TypeKind::TupleType || kind == TypeKind::ClassType ||
        kind == TypeKind::DictType || kind == TypeKind::OptionalType;
  });
  const bool of_numbers =
      takes_containers && node->kind().is_aten() &&
      std::none_of(node->inputs().begin(), node->inputs().end(), [](const Value* value) {
        return value->type()->kind() == TypeKind::ClassType || *value->type() == *ListType::ofTensors();
      });
  return any_requires_grad(node->inputs()) || (takes_containers && !of_numbers);
}

void propagate_requires_grad(Block* block) {
  for (Node* node : block->nodes()) {
    if (node->kind() == prim::If) {
      propagate_if(node);
    } else if (node->kind() == prim::Loop) {
      propagate_loop(node);
    } else {
      const bool requires_grad = makes_requires_grad(node);
      for (Value* output : node->outputs()) {
        set_requires_grad(output, requires_grad);
      }
    }
  }
}

} // namespace

void PropagateRequiresGrad(std::shared_ptr<Graph>& graph) {
  propagate_requires_grad(graph->block());
}

} // namespace torch::jit
