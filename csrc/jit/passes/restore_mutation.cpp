#include <csrc/jit/passes/restore_mutation.h>

#include <csrc/jit/passes/remove_mutation.h>
#include <csrc/jit/runtime/operator.h>

namespace torch::jit {

namespace {

Symbol in_place_form(const Node* node) {
  return Symbol::fromQualString(std::string(node->kind().toQualString()) + "_");
}

} // namespace

FunctionalToInplaceRewriter::FunctionalToInplaceRewriter(std::shared_ptr<Graph> graph) : graph_(std::move(graph)) {}

bool FunctionalToInplaceRewriter::CanBeInplace(Node* node) {
  const auto activation = activation_type_promotion_mapping.find(node->kind());
  if (activation == activation_type_promotion_mapping.end() || getAllOperatorsFor(in_place_form(node)).empty()) {
    return false;
  }
  Value* input = node->input(0);
  const auto input_type = input->type()->cast<TensorType>();
  const auto output_type = node->output()->type()->cast<TensorType>();
  if (!input_type || !output_type || input->uses().size() != 1 || input->node()->kind() == prim::Constant) {
    return false;
  }
  if (activation->second && (!input_type->scalarType() || input_type->scalarType() != output_type->scalarType())) {
    return false;
  }
  if (!aliasDb_) {
    aliasDb_ = std::make_unique<AliasDb>(graph_);
  }
  return !MutationRemover::hasSideEffectOrAlias(input, aliasDb_.get());
}

bool FunctionalToInplaceRewriter::FunctionalToInplace(Block* block) {
  bool changed = false;
  for (auto it = block->nodes().begin(); it != block->nodes().end();) {
    Node* node = *it++;
    for (Block* inner : node->blocks()) {
      changed |= FunctionalToInplace(inner);
    }
    if (CanBeInplace(node)) {
      Value* const replaced = node->output();
      aliasDb_->replaceWithNewValue(replaced, node->replaceWithNewSymbol(in_place_form(node))->output());
      changed = true;
    }
  }
  return changed;
}

bool FunctionalToInplaceActivation(const std::shared_ptr<Graph>& graph) {
  return FunctionalToInplaceRewriter(graph).FunctionalToInplace(graph->block());
}

} // namespace torch::jit
