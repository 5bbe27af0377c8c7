// Communication hooks as functions, and hooks around hooks.
#pragma once

#include <csrc/distributed/ddp/comm.h>

#include <functional>
#include <memory>

namespace torch::distributed {

/// How a bucket is reduced: a future of its average.
using CommHook = std::function<c10::intrusive_ptr<c10::ivalue::Future>(c10d::GradBucket& bucket)>;

/// The function of a hook that is a class. Throws for null.
TORCH_API CommHook comm_hook(std::unique_ptr<c10d::CommHookInterface> hook);

/// `hook` on a copy of the bucket in float16, or bfloat16; the result is converted back.
TORCH_API CommHook fp16_compress_wrapper(CommHook hook);
TORCH_API CommHook bf16_compress_wrapper(CommHook hook);
template <class Hook>
CommHook fp16_compress_wrapper(std::unique_ptr<Hook> hook) {
  return fp16_compress_wrapper(comm_hook(std::move(hook)));
}
template <class Hook>
CommHook bf16_compress_wrapper(std::unique_ptr<Hook> hook) {
  return bf16_compress_wrapper(comm_hook(std::move(hook)));
}

} // namespace torch::distributed
