// Operators that take the elements of a list in place of the list.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// Nodes `op` whose only argument that is a list is made for them, and never written to, become `variadic_op`: the
/// elements take the list's place among the inputs. Returns whether the graph has changed.
TORCH_API bool UseVariadicOp(const std::shared_ptr<Graph>& graph, NodeKind op, NodeKind variadic_op);
/// RemoveListMutation() before, so that lists that are filled by append count, too.
TORCH_API bool RemoveListMutationAndUseVariadicOp(
    const std::shared_ptr<Graph>& graph, NodeKind op, NodeKind variadic_op);
/// aten::cat becomes prim::VarConcat.
TORCH_API bool UseVariadicCat(const std::shared_ptr<Graph>& graph);
TORCH_API bool RemoveListMutationAndUseVariadicCat(const std::shared_ptr<Graph>& graph);
/// aten::stack becomes prim::VarStack.
TORCH_API bool UseVariadicStack(const std::shared_ptr<Graph>& graph);
TORCH_API bool RemoveListMutationAndUseVariadicStack(const std::shared_ptr<Graph>& graph);

} // namespace torch::jit
