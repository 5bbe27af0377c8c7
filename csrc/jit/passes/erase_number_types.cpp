#include <csrc/jit/passes/erase_number_types.h>

#include <aten/core/ScalarOps.h>
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/passes/dead_code_elimination.h>

namespace torch::jit {

namespace {

bool is_number(const Value* value) {
  switch (value->type()->kind()) {
    case TypeKind::IntType:
    case TypeKind::FloatType:
    case TypeKind::BoolType:
    case TypeKind::NumberType:
      return true;
    default:
      return false;
  }
}

void erase_in_constant(Node* node) {
  if (!is_number(node->output())) {
    return;
  }
  const IValue number = *toIValue(node->output());
  const at::Tensor tensor = at::scalar_to_tensor(number.toScalar());
  const WithInsertPoint guard(node);
  Value* constant = node->owningGraph()->insertConstant(tensor, node->sourceRange(), node->scope());
  node->output()->replaceAllUsesWith(constant);
}

} // namespace

void EraseNumberTypesOnBlock(Block* block) {
  for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
    Node* node = *it;
    for (Value* input : node->inputs()) {
      if (is_number(input)) {
        input->setType(TensorType::get());
      }
    }
    for (Block* inner : node->blocks()) {
      EraseNumberTypesOnBlock(inner);
    }
    switch (static_cast<uint32_t>(node->kind())) {
      case prim::Constant:
        erase_in_constant(node);
        break;
      case aten::Bool:
      case aten::Float:
      case aten::Int:
      case aten::FloatImplicit:
      case aten::IntImplicit:
      case aten::ScalarImplicit:
      case prim::NumToTensor:
        node->output()->replaceAllUsesWith(node->input(0));
        it.destroyCurrent();
        break;
      default:
        for (Value* output : node->outputs()) {
          if (is_number(output)) {
            output->setType(TensorType::get());
          }
        }
        break;
    }
  }
}

void EraseNumberTypes(const std::shared_ptr<Graph>& graph) {
  for (Value* input : graph->inputs()) {
    if (is_number(input)) {
      input->setType(TensorType::get());
    }
  }
  EraseNumberTypesOnBlock(graph->block());
  EliminateDeadCode(graph->block());
}

} // namespace torch::jit
