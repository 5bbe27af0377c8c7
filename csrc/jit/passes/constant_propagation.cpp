#include <csrc/jit/passes/constant_propagation.h>

#include <csrc/jit/ir/alias_analysis.h>
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/ir/node_hashing.h>
#include <csrc/jit/ir/node_kinds.h>
#include <csrc/jit/passes/dead_code_elimination.h>
#include <csrc/jit/runtime/interpreter.h>
#include <csrc/jit/runtime/operator.h>

#include <algorithm>
#include <unordered_set>

namespace torch::jit {

namespace {

// A text or list may be repeated or padded as often as a number says: larger ones are left to the run.
constexpr int64_t kMaxRepetitions = 4096;

bool is_skipped(Symbol kind) {
  static const auto& kinds = *new std::unordered_set<Symbol>{
      prim::If,
      prim::Loop,
      prim::Closure,
      prim::Constant,
      prim::AutogradZero,
      prim::Uninitialized,
      prim::Guard,
      prim::profile,
      prim::profile_ivalue,
      prim::unchecked_cast, // its branch may be one that is never run
      prim::unchecked_unwrap_optional,
      prim::awaitable,
      prim::awaitable_nowait,
      prim::awaitable_wait,
      prim::CreateObject,
      prim::GetAttr,
      prim::isinstance,
      prim::Load,
      prim::fork,
  };
  return kinds.count(kind) > 0;
}

bool all_inputs_constant(const Node* node) {
  const auto inputs = node->inputs();
  return !inputs.empty() && std::all_of(inputs.begin(), inputs.end(), [](const Value* value) {
    return value->node()->kind() == prim::Constant;
  });
}

bool may_grow(const Node* node, const Stack& inputs) {
  const auto outputs = node->outputs();
  const bool sized = std::any_of(outputs.begin(), outputs.end(), [](const Value* value) {
    return value->type()->kind() == TypeKind::StringType || value->type()->kind() == TypeKind::ListType;
  });
  return sized && std::any_of(inputs.begin(), inputs.end(), [](const IValue& value) {
           return value.isInt() && (value.toInt() > kMaxRepetitions || value.toInt() < -kMaxRepetitions);
         });
}

// ---- one node -------------------------------------------------------------------------------------------------------

IValue construct_list(const ListType& type, Stack& elements) {
  c10::impl::GenericList list(type.getElementType());
  for (IValue& element : elements) {
    list.push_back(std::move(element));
  }
  return list;
}

IValue construct_dict(const DictType& type, Stack& entries) {
  c10::impl::GenericDict dict(type.getKeyType(), type.getValueType());
  for (size_t i = 0; i + 1 < entries.size(); i += 2) {
    dict.insert_or_assign(std::move(entries[i]), std::move(entries[i + 1]));
  }
  return dict;
}

// False for nodes that are calls of operators.
bool run_structural(const Node* node, Stack& stack) {
  switch (static_cast<uint32_t>(node->kind())) {
    case prim::TupleConstruct: {
      const TupleTypePtr type = node->output()->type()->expect<TupleType>();
      Stack elements = std::exchange(stack, Stack());
      stack.emplace_back(
          type->schema() ? c10::ivalue::Tuple::createNamed(std::move(elements), type)
                         : c10::ivalue::Tuple::create(std::move(elements)));
      return true;
    }
    case prim::ListConstruct:
      stack = Stack{construct_list(node->output()->type()->expectRef<ListType>(), stack)};
      return true;
    case prim::DictConstruct:
      stack = Stack{construct_dict(node->output()->type()->expectRef<DictType>(), stack)};
      return true;
    case prim::TupleUnpack: {
      const c10::intrusive_ptr<c10::ivalue::Tuple> tuple = stack.back().toTuple();
      stack = Stack(tuple->elements().begin(), tuple->elements().end());
      return true;
    }
    case prim::ListUnpack: {
      const c10::List<IValue> list = stack.back().toList();
      stack = Stack(list.begin(), list.end());
      return true;
    }
    case prim::unchecked_cast:
      return true;
    default:
      return false;
  }
}

void run_operator(const Node* node, Stack& stack) {
  const Operator& op = node->getOperator();
  if (!op.isC10Op() && op.hasVarSchema() && op.schema().is_vararg()) {
    stack.emplace_back(static_cast<int64_t>(node->inputs().size()));
  }
  op.getOperation(node)(stack);
}

bool may_be_constant(const IValue& value, bool ignore_custom_classes) {
  if (value.isTensor()) {
    return !value.toTensor().defined() || !value.toTensor().requires_grad();
  }
  return !(ignore_custom_classes && (value.isCapsule() || value.isObject()));
}

// ---- the graph ------------------------------------------------------------------------------------------------------

class ConstantPropagator {
 public:
  ConstantPropagator(const AliasDb* alias_db, bool ignore_custom_classes)
      : alias_db_(alias_db), ignore_custom_classes_(ignore_custom_classes) {}

  bool run(Block* block) {
    propagate(block);
    return changed_;
  }

 private:
  void propagate(Block* block) {
    for (auto it = block->nodes().begin(); it != block->nodes().end();) {
      Node* node = *it++;
      propagate(node);
    }
  }

  void propagate(Node* node) {
    if (node->kind() == prim::If) {
      propagate_if(node);
    } else if (node->kind() == prim::Loop) {
      propagate_loop(node);
    } else if (node->blocks().empty()) {
      if (all_inputs_constant(node) && is_supported(node)) {
        replace_by_results(node);
      }
    } else {
      for (Block* block : node->blocks()) {
        propagate(block);
      }
    }
  }

  static bool immutable(at::ArrayRef<Value*> values) {
    return std::none_of(values.begin(), values.end(), [](const Value* value) { return AliasDb::isMutableType(value); });
  }

  bool is_supported(Node* node) const {
    if (is_skipped(node->kind()) || node->hasAttribute(attr::Subgraph)) {
      return false;
    }
    // As in libtorch: the text of a graph shows what format() and its like are given.
    const FunctionSchema* schema = node->maybeSchema();
    if (schema && schema->is_vararg()) {
      return false;
    }
    const bool unwritten =
        alias_db_ ? !alias_db_->hasWriters(node) : immutable(node->inputs()) && immutable(node->outputs());
    return unwritten && !node->isNondeterministic() && !node->hasSideEffects();
  }

  void replace_by_results(Node* node) {
    const std::optional<Stack> results = runNodeIfInputsAreConstant(node, ignore_custom_classes_);
    if (!results || results->size() != node->outputs().size()) {
      return;
    }
    const WithInsertPoint guard(node);
    for (size_t i = 0; i < results->size(); ++i) {
      Value* output = node->output(i);
      const std::optional<Value*> constant =
          tryInsertConstant(*node->owningGraph(), (*results)[i], node->sourceRange(), node->scope());
      if (!constant) {
        continue;
      }
      changed_ = true;
      if ((*results)[i].isNone()) {
        (*constant)->setType(output->type());
      }
      (*constant)->node()->copyMetadata(node);
      output->replaceAllUsesWith(*constant);
    }
  }

  // ---- conditionals
  void propagate_if(Node* node) {
    if (node->inputs().size() != 1 || node->blocks().size() != 2) {
      return;
    }
    const std::optional<IValue> condition = toIValue(node->input(0));
    if (condition && condition->isBool()) {
      Block* taken = node->blocks()[condition->toBool() ? 0 : 1];
      propagate(taken);
      inlineIfBlock(taken);
      changed_ = true;
      return;
    }
    propagate(node->blocks()[0]);
    propagate(node->blocks()[1]);
    remove_equal_results(node);
  }

  static bool defined_outside(const Value* value, const Node* node) {
    const Node* producer = value->node();
    for (const Block* block : node->blocks()) {
      for (const Block* at = producer->owningBlock(); at;
           at = at->owningNode() ? at->owningNode()->owningBlock() : nullptr) {
        if (at == block) {
          return false;
        }
      }
    }
    return true;
  }

  void remove_equal_results(Node* node) {
    Block* on_true = node->blocks()[0];
    Block* on_false = node->blocks()[1];
    for (size_t i = on_true->outputs().size(); i-- > 0;) {
      Value* a = on_true->outputs()[i];
      Value* b = on_false->outputs()[i];
      Value* same = nullptr;
      if (a == b && defined_outside(a, node)) {
        same = a;
      } else if (
          a->node()->kind() == prim::Constant && b->node()->kind() == prim::Constant && !AliasDb::isMutableType(a) &&
          EqualNode()(a->node(), b->node())) {
        Node* clone = node->owningGraph()->createClone(a->node(), [](Value* value) { return value; });
        same = clone->insertBefore(node)->output();
      }
      if (same) {
        node->output(i)->replaceAllUsesWith(same);
        node->eraseOutput(i);
        on_true->eraseOutput(i);
        on_false->eraseOutput(i);
        changed_ = true;
      }
    }
  }

  // ---- loops
  static bool will_not_run(const Node* node) {
    const std::optional<IValue> trips = toIValue(node->input(0));
    const std::optional<IValue> condition = toIValue(node->input(1));
    return (trips && trips->isInt() && trips->toInt() < 1) ||
        (condition && condition->isBool() && !condition->toBool());
  }

  void propagate_loop(Node* node) {
    if (node->blocks().size() != 1 || node->inputs().size() != node->outputs().size() + 2) {
      return;
    }
    if (will_not_run(node)) {
      for (size_t i = 0; i < node->outputs().size(); ++i) {
        node->output(i)->replaceAllUsesWith(node->input(i + 2));
      }
      node->destroy();
      changed_ = true;
      return;
    }
    propagate(node->blocks()[0]);
    remove_unchanged_state(node);
  }

  void remove_unchanged_state(Node* node) {
    Block* body = node->blocks()[0];
    for (size_t i = node->outputs().size(); i-- > 0;) {
      if (body->inputs()[i + 1] != body->outputs()[i + 1]) {
        continue;
      }
      Value* initial = node->input(i + 2);
      node->output(i)->replaceAllUsesWith(initial);
      body->eraseOutput(i + 1);
      body->inputs()[i + 1]->replaceAllUsesWith(initial);
      body->eraseInput(i + 1);
      node->eraseOutput(i);
      node->removeInput(i + 2);
      changed_ = true;
    }
  }

  const AliasDb* alias_db_;
  bool ignore_custom_classes_;
  bool changed_ = false;
};

} // namespace

std::optional<Stack> runNodeIfInputsAreConstant(const Node* node, bool ignore_custom_classes, AliasDb*) {
  Stack stack;
  for (const Value* input : node->inputs()) {
    std::optional<IValue> value = toIValue(input);
    if (!value) {
      return std::nullopt;
    }
    stack.push_back(*std::move(value));
  }
  if (may_grow(node, stack)) {
    return std::nullopt;
  }
  try {
    if (!run_structural(node, stack)) {
      run_operator(node, stack);
    }
  } catch (const std::exception&) {
    // It fails when it is run, if it is run.
    return std::nullopt;
  }
  for (const IValue& value : stack) {
    if (!may_be_constant(value, ignore_custom_classes)) {
      return std::nullopt;
    }
  }
  return stack;
}

void inlineIfBlock(Block* block) {
  Node* node = block->owningNode();
  for (auto it = block->nodes().begin(); it != block->nodes().end();) {
    Node* inner = *it++;
    inner->moveBefore(node);
  }
  for (size_t i = 0; i < node->outputs().size(); ++i) {
    node->output(i)->replaceAllUsesWith(block->outputs()[i]);
  }
  node->destroy();
}

bool ConstantPropagation(std::shared_ptr<Graph>& graph, bool ignore_custom_classes) {
  const AliasDb alias_db(graph);
  const bool changed = ConstantPropagator(&alias_db, ignore_custom_classes).run(graph->block());
  EliminateDeadCode(graph);
  return changed;
}

bool ConstantPropagationImmutableTypes(std::shared_ptr<Graph>& graph) {
  const bool changed = ConstantPropagator(nullptr, false).run(graph->block());
  EliminateDeadCode(graph);
  return changed;
}

} // namespace torch::jit
