// Sizes and dtypes of values that follow from those of a graph's inputs.
#pragma once

#include <csrc/jit/passes/type_information.h>

namespace torch::jit {

/// Where an operator's tensors have types that tell dtype, device, sizes and strides and its other inputs are
/// constants, its results get such types: it is run on tensors without data. Nothing else changes.
TORCH_API void PropagateInputShapes(const std::shared_ptr<Graph>& graph);

} // namespace torch::jit
