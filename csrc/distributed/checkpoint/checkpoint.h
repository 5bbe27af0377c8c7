// Checkpoints in the form of torch.distributed.checkpoint, which PyTorch reads and writes too.
#pragma once

#include <aten/core/ivalue.h>
#include <csrc/distributed/checkpoint/state.h>
#include <csrc/distributed/session/init.h>

#include <chrono>
#include <string>

namespace torch::distributed::checkpoint {

/// Writes the state of all ranks, which all call it, into a folder that they share. What was there is replaced when all
/// is on disk: a crash at any point leaves the old checkpoint or the new one. Throws on all ranks if one fails. Without
/// a group it is that of all processes, or of this one alone.
TORCH_API void save(
    const State& state,
    const std::string& folder,
    const GroupPtr& group = {},
    std::chrono::milliseconds timeout = std::chrono::minutes(10));

/// The same, but returns as soon as the state is copied; a thread writes it. The future is complete when the checkpoint
/// is there. At most one is under way: the next save waits for it, and throws its error if nobody has waited for it.
TORCH_API c10::intrusive_ptr<c10::ivalue::Future> async_save(
    const State& state,
    const std::string& folder,
    const GroupPtr& group = {},
    std::chrono::milliseconds timeout = std::chrono::minutes(10));

/// Reads a checkpoint into the tensors, values, modules and optimizers of the state. Each rank reads what it needs: the
/// checkpoint may come from another number of ranks and from other placements. Throws before anything is changed where
/// something is missing or has other sizes.
TORCH_API void load(const State& state, const std::string& folder);

} // namespace torch::distributed::checkpoint
