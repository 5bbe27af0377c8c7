// Communication hooks as functions, and hooks around hooks.
#include <csrc/distributed/ddp/comm_hooks.h>

#include <aten/core/jit_type.h>
#include <c10/util/Exception.h>

namespace torch::distributed {

namespace {

CommHook compressed(CommHook hook, at::ScalarType dtype) {
  TORCH_CHECK_VALUE(hook, "compress_wrapper: the communication hook is empty");
  return [hook = std::move(hook), dtype](c10d::GradBucket& bucket) {
    const at::Tensor whole = bucket.getBuffer();
    at::Tensor small = whole.to(dtype);
    bucket.setBuffer(small);
    return hook(bucket)->then(
        [whole](c10::ivalue::Future& future) {
          whole.copy_(c10d::detail::parseCppCommHookResult(future.value()));
          return c10::IValue(whole);
        },
        c10::TensorType::get());
  };
}

} // namespace

CommHook comm_hook(std::unique_ptr<c10d::CommHookInterface> hook) {
  TORCH_CHECK_VALUE(hook, "register_comm_hook: the hook is null");
  std::shared_ptr<c10d::CommHookInterface> shared = std::move(hook);
  return [shared](c10d::GradBucket& bucket) {
    return shared->runHook(bucket)->then(
        [shared](c10::ivalue::Future& future) { return c10::IValue(shared->parseHookResult(future.value())); },
        c10::TensorType::get());
  };
}

CommHook fp16_compress_wrapper(CommHook hook) {
  return compressed(std::move(hook), at::kHalf);
}

CommHook bf16_compress_wrapper(CommHook hook) {
  return compressed(std::move(hook), at::kBFloat16);
}

} // namespace torch::distributed
