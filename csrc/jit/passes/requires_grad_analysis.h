// Which values of a graph can require gradients.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// From the types of the graph's inputs to those of all values: an output of an operator that has no input which
/// requires gradients does not require them either, nor does one whose dtype cannot.
TORCH_API void PropagateRequiresGrad(std::shared_ptr<Graph>& graph);

} // namespace torch::jit
