// Expansions that broadcasting makes again.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// Removes each aten::expand that is marked as implicit.
TORCH_API void RemoveExpands(const std::shared_ptr<Graph>& graph);

} // namespace torch::jit
