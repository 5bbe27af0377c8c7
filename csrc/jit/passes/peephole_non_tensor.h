// Conditions and integers.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// Conditionals that give their condition or its opposite, and arithmetic of integers that changes nothing. True if
/// something changed.
TORCH_API bool PeepholeOptimizeNonTensor(const std::shared_ptr<Graph>& graph);

} // namespace torch::jit
