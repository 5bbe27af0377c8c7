// What pays for graphs with constant weights.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// Removes dropout that is off. With `optimize_numerics`, which changes results in the last digits, batch norm and
/// arithmetic with constants become part of the convolutions and linear layers before them.
TORCH_API void OptimizeFrozenGraph(std::shared_ptr<Graph>& graph, bool optimize_numerics = true);

} // namespace torch::jit
