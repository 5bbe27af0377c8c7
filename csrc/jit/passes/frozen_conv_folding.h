// What follows a convolution with constant weights, as part of it.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// A batch norm in inference mode becomes part of the convolution before it. True if something changed.
TORCH_API bool FoldFrozenConvBatchnorm(std::shared_ptr<Graph>& graph);
/// So does a sum with, or difference from, a constant: a number or one value a channel.
TORCH_API bool FoldFrozenConvAddOrSub(std::shared_ptr<Graph>& graph);
/// So does a product with, or quotient by, a constant.
TORCH_API bool FoldFrozenConvMulOrDiv(std::shared_ptr<Graph>& graph);

} // namespace torch::jit
