// Linear layers as matrix products.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// Linear layers with constant weights become aten::matmul by the transposed weight, and aten::add of the bias. Returns
/// whether the graph has changed.
TORCH_API bool FrozenLinearTranspose(std::shared_ptr<Graph>& graph);

} // namespace torch::jit
