// Linear layers side by side.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// Linear layers of one block that take the same tensor, with constant weights and biases of one dtype on one device,
/// become one layer, whose result is taken apart. Returns whether the graph has changed.
TORCH_API bool FrozenConcatLinear(std::shared_ptr<Graph>& graph);

} // namespace torch::jit
