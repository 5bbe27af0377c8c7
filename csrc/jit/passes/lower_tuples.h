// Tuples that are made and taken apart in the same graph.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// Elements in place of tuples, where a tuple is taken apart after it was made. Others stay.
TORCH_API void LowerSimpleTuples(const std::shared_ptr<Graph>& graph);
TORCH_API void LowerSimpleTuples(Block* block);
/// The same, and tuples that conditionals and loops give are given element by element.
TORCH_API void flattenSimpleTuples(Block* block);
/// As above, and the graph takes and gives elements instead of tuples. Throws if a tuple is used as a whole by an
/// operator.
TORCH_API void LowerAllTuples(const std::shared_ptr<Graph>& graph);

} // namespace torch::jit
