// Warnings that are told apart.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// Numbers the aten::warn nodes of a graph, also those in blocks, by an attribute `warn_id`.
TORCH_API void AnnotateWarns(const std::shared_ptr<Graph>& graph);

} // namespace torch::jit
