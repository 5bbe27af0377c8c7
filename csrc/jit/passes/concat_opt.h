// Concatenations of concatenations, and of what another has concatenated.
#pragma once

#include <csrc/jit/ir/alias_analysis.h>
#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// aten::cat of a list made for it, whose elements include the result of another aten::cat along the same dimension:
/// its elements take the place of the result. Returns whether the graph has changed.
TORCH_API bool CombineConcats(const std::shared_ptr<Graph>& graph);
/// prim::VarConcat whose first or last inputs are all inputs of another one, along the same dimension, that stands
/// before it: the other's result takes their place. Returns whether the graph has changed.
TORCH_API bool EliminateConcatCommonInputs(const std::shared_ptr<Graph>& graph);
/// Changes nothing: a concatenation writes each of its inputs once as it is.
inline void ExpandConcatAndEliminateRedundancy(const std::shared_ptr<Graph>& /*graph*/) {}

} // namespace torch::jit
