// The last step of a trace that a program takes piece by piece.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

struct Module;

/// Makes the graph of a trace one of a method of `self` (null: of a function). Here the tracer makes no blocks for
/// modules, so that nothing is to be mended: attributes that the trace did not use and other dead code go, and the
/// graph is checked.
TORCH_API void FixupTraceScopeBlocks(std::shared_ptr<Graph>& graph, Module* self);

} // namespace torch::jit
