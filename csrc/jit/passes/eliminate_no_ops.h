// Operators that give their argument.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>
#include <unordered_set>

namespace torch::jit {

/// Removes aten::detach, and the given operators, whose result is as good as their first argument when no gradients are
/// wanted; not where one of both is written to. Returns whether the graph has changed.
TORCH_API bool EliminateNoOps(std::shared_ptr<Graph>& graph, std::unordered_set<c10::Symbol> custom_ops = {});

} // namespace torch::jit
