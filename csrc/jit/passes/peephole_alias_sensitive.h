// Operators on tensors that give what they were given.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

class AliasDb;

/// Arithmetic of tensors that changes nothing: a sum with 0, a product with 1, where the types show that the dtype
/// stays, and it makes no difference that the result is the argument. True if something changed.
TORCH_API bool PeepholeOptimizeAliasSensitive(const std::shared_ptr<Graph>& graph, bool shape_peepholes);
TORCH_API bool PeepholeOptimizeAliasSensitive(
    const std::shared_ptr<Graph>& graph, bool shape_peepholes, AliasDb& alias_db);

} // namespace torch::jit
