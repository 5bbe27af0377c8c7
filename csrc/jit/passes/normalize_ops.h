// Operators that are other names of others.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>
#include <unordered_map>

namespace torch::jit {

/// Replaces operators that are other names (aten::multiply, aten::absolute, ...) by those that they stand for, where
/// these have an overload for the same inputs; `x is True` of bools becomes `x == True`.
TORCH_API void NormalizeOps(const std::shared_ptr<Graph>& graph);

/// Other names with what they stand for.
TORCH_API const std::unordered_map<Symbol, Symbol>& getOperatorAliasMap();

} // namespace torch::jit
