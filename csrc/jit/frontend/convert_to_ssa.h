// From statements to values.
#pragma once

#include <csrc/jit/ir/ir.h>

namespace torch::jit {

/// Turns what the emitter leaves (Note [Variables]: prim::Store and prim::Load, loops with a block for their condition,
/// and nodes for return, break and continue anywhere) into a graph in SSA form, whose only output is of the given type.
TORCH_API void convertToSSA(Graph& graph, const TypePtr& return_type);

/// Removes prim::ReturnStmt and prim::LoopContinuation: what follows them is run only where they were not met. The
/// graph gets the output that its returns give. Part of convertToSSA.
TORCH_API void transformExits(Graph& graph, const TypePtr& return_type);

/// In place of nodes prim::With their blocks, followed by prim::Exit. Part of convertToSSA.
TORCH_API void inlineWithBlocks(Block* block);

} // namespace torch::jit
