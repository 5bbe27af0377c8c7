// Nodes that nothing needs are removed.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <functional>
#include <memory>
#include <unordered_set>

namespace torch::jit {

/// What happens to nodes with side effects whose outputs nothing uses.
enum class DCESideEffectPolicy : uint8_t {
  DONT_DELETE_NODES_WITH_SIDE_EFFECTS,
  ALLOW_DELETING_NODES_WITH_SIDE_EFFECTS
};

/// Removes nodes without effect whose outputs nothing uses, writes to memory that nothing reads, and outputs of
/// conditionals and loops that nothing uses.
TORCH_API void EliminateDeadCode(
    const std::shared_ptr<Graph>& graph,
    DCESideEffectPolicy sideEffectPolicy = DCESideEffectPolicy::DONT_DELETE_NODES_WITH_SIDE_EFFECTS);
/// As above, but whatever writes to memory stays. Without `recurse`, blocks of nodes are left as they are.
TORCH_API void EliminateDeadCode(
    Block* block,
    bool recurse = true,
    DCESideEffectPolicy sideEffectPolicy = DCESideEffectPolicy::DONT_DELETE_NODES_WITH_SIDE_EFFECTS);
/// As above; `cb` is called with the values that live, before anything is removed.
TORCH_API void EliminateDeadCode(
    Block* block,
    std::function<void(const std::unordered_set<const Value*>&)> cb,
    DCESideEffectPolicy sideEffectPolicy = DCESideEffectPolicy::DONT_DELETE_NODES_WITH_SIDE_EFFECTS);

} // namespace torch::jit
