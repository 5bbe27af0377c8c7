// Constants that are equal become one.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// Moves all constants to the beginning of the graph and keeps one of those that are equal.
TORCH_API void ConstantPooling(const std::shared_ptr<Graph>& graph);

} // namespace torch::jit
