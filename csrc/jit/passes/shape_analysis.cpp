#include <csrc/jit/passes/shape_analysis.h>

#include <csrc/jit/ir/constants.h>
#include <csrc/jit/runtime/operator.h>

#include <aten/core/jit_type.h>
#include <aten/ops/empty_strided.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <optional>

namespace torch::jit {

namespace {

bool writes(const FunctionSchema& schema) {
  return std::any_of(schema.arguments().begin(), schema.arguments().end(), [](const Argument& argument) {
    return argument.alias_info() && argument.alias_info()->isWrite();
  });
}

/// What stands for the value in a run without data; nullopt if too little is known of it.
std::optional<IValue> stand_in(const Value* value) {
  if (const auto type = value->type()->cast<TensorType>()) {
    const auto sizes = type->sizes().concrete_sizes();
    const auto strides = type->strides().concrete_sizes();
    if (!type->isComplete() || !sizes || !strides) {
      return std::nullopt;
    }
    return at::empty_strided(*sizes, *strides, at::TensorOptions(*type->scalarType()).device(at::kMeta));
  }
  return toIValue(value);
}

void propagate_shapes(Node* node) {
  const Operator* op = node->kind().is_aten() ? node->maybeOperator() : nullptr;
  if (!op || !op->isC10Op() || writes(op->schema()) || node->isNondeterministic()) {
    return;
  }
  Stack stack;
  std::optional<at::Device> device;
  for (const Value* input : node->inputs()) {
    std::optional<IValue> value = stand_in(input);
    if (!value) {
      return;
    }
    if (value->isTensor() && !device) {
      device = input->type()->expect<TensorType>()->device();
    }
    stack.push_back(std::move(*value));
  }
  if (!device) {
    return;
  }
  try {
    op->handle().callBoxed(stack);
  } catch (const std::exception&) {
    return; // it fails when the graph runs, or has no kernel for tensors without data
  }
  for (size_t i = 0; i < node->outputs().size() && i < stack.size(); ++i) {
    if (stack[i].isTensor() && stack[i].toTensor().defined()) {
      node->output(i)->setType(
          TensorType::create(stack[i].toTensor())->withDevice(device)->withRequiresGrad(std::nullopt));
    }
  }
}

void propagate_shapes(Block* block) {
  for (Node* node : block->nodes()) {
    for (Block* inner : node->blocks()) {
      propagate_shapes(inner);
    }
    propagate_shapes(node);
  }
}

} // namespace

void PropagateInputShapes(const std::shared_ptr<Graph>& graph) {
  const c10::NoGradGuard no_grad;
  propagate_shapes(graph->block());
}

} // namespace torch::jit
