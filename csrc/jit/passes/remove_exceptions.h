// Programs that are known to raise nothing.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// Branches that end in prim::RaiseException are taken to be never reached: the other branch takes the place of the
/// prim::If. The graph then raises nothing where it did before; only for those who know that it would not.
TORCH_API void EliminateExceptions(std::shared_ptr<Graph>& graph);

} // namespace torch::jit
