// Operators that are several in one.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// aten::addmm with factors of 1 becomes aten::mm and aten::add, so that passes for these see them. (libtorch takes
/// apart normalizations on GPUs, too, for fusers that are not here.)
TORCH_API void DecomposeOps(std::shared_ptr<Graph>& graph);

} // namespace torch::jit
