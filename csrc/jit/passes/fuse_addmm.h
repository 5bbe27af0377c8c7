// Matrix products with something added, as one operator.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// `mm(a, b) + c` and `c + mm(a, b)` become addmm(c, a, b) where that is the same: the types of the values must tell
/// that all three have one dtype and that `c` is broadcast to the product and not the other way round. True if
/// something changed.
TORCH_API bool FuseAddMM(const std::shared_ptr<Graph>& graph);

} // namespace torch::jit
