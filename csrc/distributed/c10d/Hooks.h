// Functions that programs have called around collectives.
#pragma once

#include <csrc/distributed/c10d/Work.h>

namespace c10d {

/// The operation a hook is called for.
enum class HookOpName : uint8_t {
  SEND = 0,
  RECV,
  BROADCAST,
  ALLREDUCE,
  REDUCE,
  ALLGATHER,
  REDUCE_SCATTER,
  ALLTOALL,
  BARRIER,
  SCATTER,
  GATHER,
  SPLIT,
  NEW_WINDOW,
  ALLREDUCE_COALESCED,
  ALLGATHER_BASE,
  ALLGATHER_COALESCED,
  ALLGATHER_INTO_TENSOR_COALESCED,
  REDUCE_SCATTER_BASE,
  REDUCE_SCATTER_TENSOR_COALESCED,
  ALLTOALL_BASE,
  UNKNOWN,
};

/// Before an operation begins. `op_id` is that of the call after it.
struct PreHookArgs {
  HookOpName name = HookOpName::UNKNOWN;
  bool async_op = false;
  std::vector<at::Tensor> input_tensors;
  std::vector<at::Tensor> output_tensors;
  int64_t root = -1;
  int64_t op_id = 0;
};
using PreHook = std::function<void(const PreHookArgs&)>;

/// After it has begun.
struct PostHookArgs {
  HookOpName name = HookOpName::UNKNOWN;
  bool async_op = false;
  c10::intrusive_ptr<Work> work;
  int64_t op_id = 0;
};
using PostHook = std::function<void(const PostHookArgs&)>;

/// Before a backend gives up after a failure; may be called more than once.
using AbortHook = std::function<void()>;

/// An operation has ended well.
struct CompletionHookArgs {
  uint64_t completionKey = 0;
  std::optional<float> duration_ms;
};
using CompletionHook = std::function<void(const CompletionHookArgs&)>;

} // namespace c10d
