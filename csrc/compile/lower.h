// From functional graphs to the loop IR.
#pragma once

#include <csrc/capture/backend.h>
#include <csrc/compile/ir.h>

#include <functional>
#include <memory>
#include <vector>

namespace torch::fused {

/// The program of a graph; see Note [Functional graphs] for what that has to be. Throws c10::Error when something about
/// it is not known that has to be.
/// `is_alone` and `saves_memory` are as in BackendInput.
TORCH_API Program
lower(const std::shared_ptr<const fx::Graph>& graph, const std::vector<bool>& is_alone = {}, bool saves_memory = false);

/// Has groups compute again what it does not pay to store; see Note [Values computed again].
void repeat_values(Program& program);
/// Whether a value of a group is such that others may compute it again.
bool is_cheap_value(const Program& program, const Group& group, uint32_t value);

/// Has groups store to inputs what these are to hold; see Note [Inputs in place].
void write_in_place(Program& program, const std::vector<bool>& is_alone);

/// Calls visit(buffer) for what a step reads.
void visit_reads(const Step& step, const std::function<void(uint32_t)>& visit);

/// Gives buffers their places in the arena or tensors of their own, and slots their last uses.
void plan_memory(Program& program, bool saves_memory);

} // namespace torch::fused
