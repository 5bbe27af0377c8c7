// What follows a linear layer with constant weights, as part of it.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// A batch norm in inference mode becomes part of the linear layer before it. True if something changed.
TORCH_API bool FoldFrozenLinearBatchnorm(std::shared_ptr<Graph>& graph);

} // namespace torch::jit
