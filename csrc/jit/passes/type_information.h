// What the types of a graph's values tell beyond "Tensor": removed, or brought up to date.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// Tensors' types lose sizes, dtypes and the like, also within lists, tuples and optionals, in blocks and subgraphs.
TORCH_API void EraseShapeInformation(const std::shared_ptr<Graph>& graph);
/// The same for values that are tensors.
TORCH_API void ClearProfilingInformation(const std::shared_ptr<Graph>& graph);
/// The same for the graph's inputs.
TORCH_API void unprofileGraphInputs(const std::shared_ptr<Graph>& graph);
/// The same for the outputs of a block's nodes, in blocks within it, too.
TORCH_API void unprofileBlock(Block* start_block);
/// The same, under the name that fusers use.
TORCH_API void RemoveTensorTypeSpecializations(std::shared_ptr<Graph>& graph);
/// The same for all values that are tensors or lists of tensors, in blocks, too: such types no longer say that a tensor
/// may be undefined, so that operators take it.
TORCH_API void ClearUndefinedness(const std::shared_ptr<Graph>& graph);
/// Whether the type tells more of a tensor than that it is one.
TORCH_API bool hasTensorTypeSpecialization(const Value* v);

/// The type of a tuple that is constructed becomes that of its elements; what is taken out of it follows.
TORCH_API void RefineTupleTypes(std::shared_ptr<Graph>& graph);

} // namespace torch::jit
