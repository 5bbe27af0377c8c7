#include <aten/parallel/ThreadLocalState.h>

#include <aten/observe/record_function.h>
#include <c10/util/ThreadLocalDebugInfo.h>

namespace at::impl {

__thread bool has_rare_thread_state __attribute__((tls_model("initial-exec"))) = false;

struct RareThreadState {
  SharedRecordFunctionTLS callbacks;
  std::shared_ptr<c10::ThreadLocalDebugInfo> debug_info;
};

c10::SharedOf<const RareThreadState> rare_thread_state() {
  const SharedRecordFunctionTLS& callbacks = shared_record_function_tls();
  std::shared_ptr<c10::ThreadLocalDebugInfo> debug_info = c10::ThreadLocalDebugInfo::current();
  if (!callbacks && !debug_info) {
    return nullptr;
  }
  return std::make_shared<const RareThreadState>(RareThreadState{callbacks, std::move(debug_info)});
}

void set_rare_thread_state(const c10::SharedOf<const RareThreadState>& state) {
  set_shared_record_function_tls(state ? state->callbacks : nullptr);
  c10::ThreadLocalDebugInfo::_forceCurrentDebugInfo(state ? state->debug_info : nullptr);
  has_rare_thread_state = state != nullptr;
}

} // namespace at::impl
