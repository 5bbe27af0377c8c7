// From functional graphs to the loop IR.
#pragma once

#include <csrc/capture/backend.h>
#include <csrc/compile/ir.h>

namespace torch::fused {

/// The program of a graph; see Note [Functional graphs] for what that has to be. Throws c10::Error when something about
/// it is not known that has to be.
TORCH_API Program lower(const std::shared_ptr<const fx::Graph>& graph);

/// Gives buffers their places in the arena, and slots their last uses.
void plan_memory(Program& program);

} // namespace torch::fused
