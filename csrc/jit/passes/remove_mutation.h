// In-place operators and changes of lists, replaced by what makes new values.
#pragma once

#include <csrc/jit/ir/alias_analysis.h>
#include <csrc/jit/ir/ir.h>

#include <functional>
#include <memory>
#include <optional>

namespace torch::jit {

/// Removes mutation from a graph, where the value that is changed was made in the same block and nobody reads it before
/// the change.
struct TORCH_API MutationRemover {
  /// With a filter, only nodes for which it is true are replaced.
  explicit MutationRemover(
      std::shared_ptr<Graph> graph, std::optional<std::function<bool(Node*)>> mutation_filter = std::nullopt)
      : mutation_filter_(std::move(mutation_filter)), graph_(std::move(graph)) {}

  /// See RemoveListMutation().
  bool removeListMutation();
  /// See RemoveTensorMutation().
  bool removeTensorMutation();
  /// In-place operators whose functional form has another name: zero_, fill_ with a number, normal_.
  bool isSpecialMappedOp(Node* n);
  /// Whether it is an in-place operator that has a functional form with the same arguments.
  bool inplaceOpVariant(Node* n);
  /// Whether computing the value does more than that, or its memory may be that of an argument.
  static bool hasSideEffectOrAlias(Value* v, AliasDb* aliasDb);

 private:
  Node* createSpecialMappedOp(Node* n);
  bool tryMakeCreationAndMutationAtomic(Value* mutated_value, Node* mutating_op);
  bool tryMakeUnaliasedIfOutputAndMutationAtomic(Value* mutated_value, Node* mutating_op);
  bool removeListMutation(Block* block);
  bool removeTensorMutation(Block* block);
  bool mayReplace(Node* node);
  AliasDb* getOrCreateAliasDb();

  std::optional<std::function<bool(Node*)>> mutation_filter_;
  std::unique_ptr<AliasDb> aliasDb_;
  std::shared_ptr<Graph> graph_;
};

/// Elements that are appended to a list, inserted, set or popped right after its construction become, or stop being,
/// part of the construction. Returns whether the graph has changed.
TORCH_API bool RemoveListMutation(const std::shared_ptr<Graph>& graph);

/// In-place operators become their functional forms where nobody can tell: the tensor must be a new one that nothing
/// reads before. As in libtorch, operators are taken to keep the dtype of what they change, but where the types of the
/// values say otherwise. With a filter, only nodes for which it is true. Returns whether the graph has changed.
TORCH_API bool RemoveTensorMutation(
    const std::shared_ptr<Graph>& graph, std::optional<std::function<bool(Node*)>> mutation_filter = std::nullopt);

/// RemoveTensorMutation() for activations alone: relu_, sigmoid_ and the like.
TORCH_API bool InplaceToFunctionalActivation(const std::shared_ptr<Graph>& graph);

} // namespace torch::jit
