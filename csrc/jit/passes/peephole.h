// Small patterns with simpler equals.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// Comparisons with None whose result is known by types, casts that change nothing, lists and dicts that are read where
/// they were made, conditions that are their own result, sums with nothing. With `disable_shape_peepholes`, what types
/// know of shapes and dtypes is not used. True if something changed.
TORCH_API bool PeepholeOptimize(const std::shared_ptr<Graph>& graph, bool disable_shape_peepholes = false);
TORCH_API bool PeepholeOptimize(Block* block, bool disable_shape_peepholes = false);
/// As PeepholeOptimize(), but what is of no use any more stays.
bool applyPeepholes(const std::shared_ptr<Graph>& graph, bool disable_shape_peepholes);

} // namespace torch::jit
