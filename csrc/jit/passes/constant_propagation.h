// What can be computed before the graph runs.
#pragma once

#include <aten/core/stack.h>
#include <csrc/jit/ir/ir.h>

#include <memory>
#include <optional>

namespace torch::jit {

class AliasDb;

/// Runs nodes whose inputs are constants, and puts constants in place of their results; takes the branch of
/// conditionals that is known, removes loops that do not run, and what conditionals and loops give unchanged. Results
/// that something writes to are left alone. True if something changed.
TORCH_API bool ConstantPropagation(std::shared_ptr<Graph>& graph, bool ignore_custom_classes = false);
/// As above, for numbers, strings and whatever else cannot be written to: needs no alias analysis.
TORCH_API bool ConstantPropagationImmutableTypes(std::shared_ptr<Graph>& graph);

/// The results of a node whose inputs are constants; nullopt if an input is none, or if it fails.
TORCH_API std::optional<Stack> runNodeIfInputsAreConstant(
    const Node* node, bool ignore_custom_classes = false, AliasDb* db = nullptr);

/// Puts the nodes of a block of prim::If in its place, which is destroyed.
TORCH_API void inlineIfBlock(Block* block);

} // namespace torch::jit
