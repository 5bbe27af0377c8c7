// From statements to values.
#pragma once

#include <csrc/jit/ir/ir.h>

namespace torch::jit {

/// Turns what the emitter leaves (Note [Variables]: prim::Store and prim::Load, loops with a block for their condition,
/// and nodes for return, break and continue anywhere) into a graph in SSA form. Its output, which the returns give,
/// must be there.
TORCH_API void convertToSSA(Graph& graph);

/// Removes prim::ReturnStmt and prim::LoopContinuation: what follows them is run only where they were not met. Part of
/// convertToSSA.
TORCH_API void transformExits(Graph& graph);
/// Conditionals that follow another one which decides them become part of it. Part of convertToSSA.
TORCH_API void joinConditionals(Block* block);

/// In place of nodes prim::With their blocks, followed by prim::Exit. Part of convertToSSA.
TORCH_API void inlineWithBlocks(Block* block);

} // namespace torch::jit
