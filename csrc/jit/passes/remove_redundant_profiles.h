// Profiling nodes that see what others have seen.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

class AliasDb;

/// Replaces prim::profile nodes by their inputs. Nothing here profiles graphs: such nodes come from graphs in text.
TORCH_API void RemoveRedundantProfiles(std::shared_ptr<Graph>& graph);
TORCH_API void RemoveRedundantProfiles(Block* block, AliasDb& db);
TORCH_API void RemoveProfilingNodes(const std::shared_ptr<Graph>& graph);

} // namespace torch::jit
