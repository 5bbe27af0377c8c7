// Loops that run a known number of times.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// The body in place of loops that run a small, known number of times and whose bodies are short. Others stay: the
/// interpreter's cost for a turn is that of one node. True if something changed.
TORCH_API bool UnrollLoops(std::shared_ptr<Graph>& graph);
TORCH_API bool UnrollConstantLoops(std::shared_ptr<Graph>& graph);

/// Puts a copy of the loop before it that runs at most `times` times; the loop goes on from there. Returns the copy.
TORCH_API Node* PeelLoop(Node* loop, size_t times);

} // namespace torch::jit
