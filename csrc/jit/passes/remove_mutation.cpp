#include <csrc/jit/passes/remove_mutation.h>

#include <csrc/jit/ir/constants.h>
#include <csrc/jit/passes/restore_mutation.h>
#include <csrc/jit/runtime/operator.h>

#include <algorithm>

namespace torch::jit {

namespace {

constexpr const char* kZero = "aten::zero_(Tensor(a!) self) -> Tensor(a!)";
constexpr const char* kFill = "aten::fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)";
constexpr const char* kNormal =
    "aten::normal_(Tensor(a!) self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor(a!)";

// The name without the underscore; nullopt if the operator is not called as in-place operators are.
std::optional<Symbol> functional_name(const Node* node) {
  const std::string name = node->kind().toQualString();
  if (!node->kind().is_aten() || name.size() < 2 || name.back() != '_' || name[name.size() - 2] == '_') {
    return std::nullopt;
  }
  return Symbol::fromQualString(name.substr(0, name.size() - 1));
}

bool same_arguments(const FunctionSchema& in_place, const FunctionSchema& functional) {
  if (in_place.overload_name() != functional.overload_name() ||
      in_place.arguments().size() != functional.arguments().size() || functional.returns().size() != 1) {
    return false;
  }
  for (size_t i = 0; i < in_place.arguments().size(); ++i) {
    const c10::Argument& argument = functional.arguments()[i];
    if (*in_place.arguments()[i].type() != *argument.type() ||
        (argument.alias_info() && argument.alias_info()->isWrite())) {
      return false;
    }
  }
  return true;
}

// Whether the value is new by what its operator says: a list, or a tensor that shares memory with no argument.
bool gives_new_value(const Value* value) {
  const Node* node = value->node();
  if (node->kind() == prim::ListConstruct) {
    return true;
  }
  const FunctionSchema* schema = node->kind().is_aten() ? node->maybeSchema() : nullptr;
  return schema && value->offset() < schema->returns().size() && value->type()->kind() == TypeKind::TensorType &&
      !schema->returns()[value->offset()].alias_info();
}

std::optional<at::ScalarType> scalar_type_of(const Value* value) {
  const auto type = value->type()->cast<TensorType>();
  return type ? type->scalarType() : std::nullopt;
}

// Whether the functional form is known to give another dtype than that of what is changed.
bool would_promote(const Node* node) {
  const std::optional<at::ScalarType> own = scalar_type_of(node->input(0));
  return own && std::any_of(node->inputs().begin(), node->inputs().end(), [&](const Value* input) {
           const std::optional<at::ScalarType> other = scalar_type_of(input);
           return other && c10::promoteTypes(*own, *other) != *own;
         });
}

// ---- lists ----------------------------------------------------------------------------------------------------------

/// A change of the list that a node makes, which can be made where the list is constructed.
class ListChange {
 public:
  ListChange(Node* construct, Node* change) : construct_(construct), change_(change) {}

  static bool is_known(const Node* node) {
    static const Symbol kKinds[] = {
        Symbol::aten("append"), Symbol::aten("insert"), Symbol::aten("_set_item"), Symbol::aten("pop")};
    return std::find(std::begin(kKinds), std::end(kKinds), node->kind()) != std::end(kKinds) &&
        !node->inputs().empty() && node->input(0)->node()->kind() == prim::ListConstruct;
  }

  /// Whether the place is known, and the list has it.
  bool is_possible() const {
    switch (change_->inputs().size()) {
      case 1:
        return change_->kind() == Symbol::aten("pop") && !construct_->inputs().empty();
      case 2:
        return change_->kind() == Symbol::aten("append") ||
            (change_->kind() == Symbol::aten("pop") && element().has_value());
      case 3:
        return change_->kind() == Symbol::aten("insert") ? index().has_value() : element().has_value();
      default:
        return false;
    }
  }

  void apply() {
    if (change_->kind() == Symbol::aten("append")) {
      construct_->addInput(change_->input(1));
    } else if (change_->kind() == Symbol::aten("insert")) {
      const int64_t size = static_cast<int64_t>(construct_->inputs().size());
      const int64_t place = *index() < 0 ? std::max<int64_t>(*index() + size, 0) : std::min(*index(), size);
      construct_->insertInput(static_cast<size_t>(place), change_->input(2));
    } else if (change_->kind() == Symbol::aten("_set_item")) {
      construct_->replaceInput(*element(), change_->input(2));
    } else {
      const size_t place = change_->inputs().size() == 1 ? construct_->inputs().size() - 1 : *element();
      change_->output()->replaceAllUsesWith(construct_->input(place));
      construct_->removeInput(place);
      return;
    }
    for (Value* output : change_->outputs()) {
      output->replaceAllUsesWith(construct_->output());
    }
  }

 private:
  std::optional<int64_t> index() const {
    const std::optional<IValue> known = toIValue(change_->input(1));
    return known && known->isInt() ? std::optional<int64_t>(known->toInt()) : std::nullopt;
  }
  // The place of the element that the index names.
  std::optional<size_t> element() const {
    const int64_t size = static_cast<int64_t>(construct_->inputs().size());
    const std::optional<int64_t> place = index();
    if (!place || *place < -size || *place >= size) {
      return std::nullopt;
    }
    return static_cast<size_t>(*place < 0 ? *place + size : *place);
  }

  Node* construct_;
  Node* change_;
};

} // namespace

AliasDb* MutationRemover::getOrCreateAliasDb() {
  if (!aliasDb_) {
    aliasDb_ = std::make_unique<AliasDb>(graph_);
  }
  return aliasDb_.get();
}

bool MutationRemover::mayReplace(Node* node) {
  return !mutation_filter_ || (*mutation_filter_)(node);
}

bool MutationRemover::removeListMutation() {
  return removeListMutation(graph_->block());
}

bool MutationRemover::removeListMutation(Block* block) {
  bool changed = false;
  for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
    Node* node = *it;
    for (Block* inner : node->blocks()) {
      changed |= removeListMutation(inner);
    }
    if (!ListChange::is_known(node) || !mayReplace(node)) {
      continue;
    }
    Value* list = node->input(0);
    ListChange change(list->node(), node);
    if (!change.is_possible() || !tryMakeCreationAndMutationAtomic(list, node)) {
      continue;
    }
    change.apply();
    getOrCreateAliasDb()->forgetWrites(node);
    it.destroyCurrent();
    changed = true;
  }
  return changed;
}

// ---- tensors --------------------------------------------------------------------------------------------------------

bool MutationRemover::removeTensorMutation() {
  return removeTensorMutation(graph_->block());
}

bool MutationRemover::removeTensorMutation(Block* block) {
  bool changed = false;
  for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
    Node* node = *it;
    for (Block* inner : node->blocks()) {
      changed |= removeTensorMutation(inner);
    }
    const bool special = isSpecialMappedOp(node);
    if ((!special && (!inplaceOpVariant(node) || would_promote(node))) || !mayReplace(node)) {
      continue;
    }
    Value* mutated = node->input(0);
    if (!tryMakeCreationAndMutationAtomic(mutated, node) && !tryMakeUnaliasedIfOutputAndMutationAtomic(mutated, node)) {
      continue;
    }
    Node* functional = nullptr;
    if (special) {
      functional = createSpecialMappedOp(node);
    } else {
      functional = graph_->create(*functional_name(node), node->inputs(), 1);
      functional->output()->setType(node->output()->type());
      functional->insertBefore(node)->copyMetadata(node);
    }
    mutated->replaceAllUsesAfterNodeWith(node, functional->output());
    node->output()->replaceAllUsesWith(functional->output());
    // From here on the new value has what the old one shared; the old one is known to none but the new node.
    AliasDb* db = getOrCreateAliasDb();
    db->replaceWithNewValue(mutated, functional->output());
    db->createValue(mutated);
    db->forgetWrites(node);
    it.destroyCurrent();
    changed = true;
  }
  return changed;
}

bool MutationRemover::isSpecialMappedOp(Node* n) {
  return n->matches(kZero) || n->matches(kFill) || n->matches(kNormal);
}

bool MutationRemover::inplaceOpVariant(Node* n) {
  const std::optional<Symbol> name = functional_name(n);
  const FunctionSchema* schema = name && n->outputs().size() == 1 ? n->maybeSchema() : nullptr;
  if (!schema || schema->arguments().empty() || !schema->arguments()[0].alias_info() ||
      !schema->arguments()[0].alias_info()->isWrite()) {
    return false;
  }
  const auto& candidates = getAllOperatorsFor(*name);
  return std::any_of(candidates.begin(), candidates.end(), [&](const auto& candidate) {
    return same_arguments(*schema, candidate->schema());
  });
}

// The new values have the sizes, dtype and device of the tensor that would be overwritten.
Node* MutationRemover::createSpecialMappedOp(Node* n) {
  const WithInsertPoint guard(n);
  Value* like = n->input(0);
  Value* made = nullptr;
  if (n->matches(kFill)) {
    made = graph_->insert(
        Symbol::aten("full_like"), {like, n->input(1)}, {NamedValue("dtype", graph_->insert(prim::dtype, {like}))},
        n->sourceRange());
  } else if (n->matches(kZero)) {
    made = graph_->insert(Symbol::aten("zeros_like"), {like}, {}, n->sourceRange());
  } else {
    Value* sizes = graph_->insert(Symbol::aten("size"), {like});
    made = graph_->insert(
        Symbol::aten("normal"), {n->input(1), n->input(2), sizes},
        {NamedValue("generator", n->input(3)), NamedValue("dtype", graph_->insert(prim::dtype, {like})),
         NamedValue("device", graph_->insert(prim::device, {like}))},
        n->sourceRange());
  }
  made->node()->copyMetadata(n);
  made->setType(n->output()->type());
  return made->node();
}

bool MutationRemover::hasSideEffectOrAlias(Value* v, AliasDb* aliasDb) {
  Node* node = v->node();
  if (!node->blocks().empty() || node->hasAttribute(attr::Subgraph) || node->kind() == prim::Param ||
      node->hasSideEffects()) {
    return true;
  }
  // What becomes of the value later is no matter here.
  return !gives_new_value(v) && aliasDb->mayContainAlias(node->inputs(), node->outputs());
}

bool MutationRemover::tryMakeCreationAndMutationAtomic(Value* mutated_value, Node* mutating_op) {
  // Constants are made once for all runs.
  return mutated_value->node()->kind() != prim::Constant &&
      !hasSideEffectOrAlias(mutated_value, getOrCreateAliasDb()) &&
      getOrCreateAliasDb()->moveBeforeTopologicallyValid(mutated_value->node(), mutating_op);
}

// x = a if c else b, where both are new tensors that are not used otherwise.
bool MutationRemover::tryMakeUnaliasedIfOutputAndMutationAtomic(Value* mutated_value, Node* mutating_op) {
  Node* branches = mutated_value->node();
  if (branches->kind() != prim::If) {
    return false;
  }
  for (Block* block : branches->blocks()) {
    Value* result = block->outputs().at(mutated_value->offset());
    if (result->node()->owningBlock() != block || result->uses().size() != 1 ||
        result->node()->kind() == prim::Constant || hasSideEffectOrAlias(result, getOrCreateAliasDb())) {
      return false;
    }
  }
  return getOrCreateAliasDb()->moveBeforeTopologicallyValid(branches, mutating_op);
}

// ---- passes ---------------------------------------------------------------------------------------------------------

bool RemoveListMutation(const std::shared_ptr<Graph>& graph) {
  return MutationRemover(graph).removeListMutation();
}

bool RemoveTensorMutation(
    const std::shared_ptr<Graph>& graph, std::optional<std::function<bool(Node*)>> mutation_filter) {
  return MutationRemover(graph, std::move(mutation_filter)).removeTensorMutation();
}

bool InplaceToFunctionalActivation(const std::shared_ptr<Graph>& graph) {
  return RemoveTensorMutation(graph, [](Node* node) {
    const std::optional<Symbol> name = functional_name(node);
    return name && activation_type_promotion_mapping.count(*name) != 0;
  });
}

} // namespace torch::jit
