// Tasks that are run where they are started.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// Puts the graph of each prim::fork in its place, and its result where aten::wait asks for it. Waits for futures that
/// are not started in the same block or one around it stay.
TORCH_API void InlineForkWait(const std::shared_ptr<Graph>& graph);

} // namespace torch::jit
