#include <csrc/jit/passes/peephole_non_tensor.h>

#include <csrc/jit/ir/constants.h>

namespace torch::jit {

namespace {

std::optional<bool> known_bool(const Value* value) {
  const std::optional<IValue> known = toIValue(value);
  return known && known->isBool() ? std::optional<bool>(known->toBool()) : std::nullopt;
}

// A conditional that gives True where its condition holds, and False where it does not, gives its condition.
bool replace_by_condition(Node* node) {
  if (node->inputs().size() != 1 || node->blocks().size() != 2) {
    return false;
  }
  bool changed = false;
  for (size_t i = 0; i < node->outputs().size(); ++i) {
    const std::optional<bool> on_true = known_bool(node->blocks()[0]->outputs()[i]);
    const std::optional<bool> on_false = known_bool(node->blocks()[1]->outputs()[i]);
    if (on_true == true && on_false == false && node->output(i)->hasUses()) {
      node->output(i)->replaceAllUsesWith(node->input(0));
      changed = true;
    }
  }
  return changed;
}

bool is_int(const Value* value, int64_t number) {
  const std::optional<IValue> known = toIValue(value);
  return known && known->isInt() && known->toInt() == number;
}

bool all_int(const Node* node) {
  return node->inputs().size() == 2 && node->outputs().size() == 1 &&
      node->input(0)->type()->kind() == TypeKind::IntType && node->input(1)->type()->kind() == TypeKind::IntType &&
      node->output()->type()->kind() == TypeKind::IntType;
}

// The operand that is the result, or null.
Value* unchanged_operand(Node* node) {
  switch (static_cast<uint32_t>(node->kind())) {
    case aten::add:
      return is_int(node->input(1), 0) ? node->input(0) : is_int(node->input(0), 0) ? node->input(1) : nullptr;
    case aten::sub:
      return is_int(node->input(1), 0) ? node->input(0) : nullptr;
    case aten::mul:
      return is_int(node->input(1), 1) ? node->input(0) : is_int(node->input(0), 1) ? node->input(1) : nullptr;
    case aten::floordiv:
      return is_int(node->input(1), 1) ? node->input(0) : nullptr;
    default:
      return nullptr;
  }
}

// As in libtorch, a number equals itself, NaN too: compared are values of the graph, not what they hold.
bool compare_with_itself(Node* node) {
  const bool compares = node->kind() == aten::eq || node->kind() == aten::ne;
  if (!compares || node->inputs().size() != 2 || node->input(0) != node->input(1) || !node->hasUses()) {
    return false;
  }
  switch (node->input(0)->type()->kind()) {
    case TypeKind::IntType:
    case TypeKind::FloatType:
    case TypeKind::BoolType:
    case TypeKind::StringType:
      break;
    default:
      return false;
  }
  const WithInsertPoint guard(node);
  Value* result = node->owningGraph()->insertConstant(node->kind() == aten::eq, node->sourceRange(), node->scope());
  node->output()->replaceAllUsesWith(result);
  return true;
}

bool optimize(Block* block) {
  bool changed = false;
  for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
    Node* node = *it;
    for (Block* inner : node->blocks()) {
      changed |= optimize(inner);
    }
    if (node->kind() == prim::If) {
      changed |= replace_by_condition(node);
    } else if (compare_with_itself(node)) {
      changed = true;
    } else if (all_int(node)) {
      Value* operand = unchanged_operand(node);
      if (operand && node->hasUses()) {
        node->output()->replaceAllUsesWith(operand);
        changed = true;
      }
    }
  }
  return changed;
}

} // namespace

bool PeepholeOptimizeNonTensor(const std::shared_ptr<Graph>& graph) {
  return optimize(graph->block());
}

} // namespace torch::jit
