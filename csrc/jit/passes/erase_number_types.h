// Numbers as tensors, for formats that have no numbers.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// Values that are numbers or bools become tensors without dimensions: constants change, types of others are declared
/// so. The graph is for export, and can no longer be run.
TORCH_API void EraseNumberTypes(const std::shared_ptr<Graph>& graph);
TORCH_API void EraseNumberTypesOnBlock(Block* block);

} // namespace torch::jit
