// The hooks that tell whether a thread holds Python's lock.
#include <csrc/compat/c10/util/DeadlockDetection.h>

#include <c10/util/env.h>

#include <atomic>

namespace c10::impl {
namespace {

std::atomic<PythonGILHooks*> python_gil_hooks{nullptr};

bool detection_is_disabled() {
  return utils::has_env("TORCH_DISABLE_DEADLOCK_DETECTION");
}

} // namespace

bool check_python_gil() {
  const PythonGILHooks* hooks = python_gil_hooks.load();
  return hooks != nullptr && hooks->check_python_gil();
}

void SetPythonGILHooks(PythonGILHooks* factory) {
  if (detection_is_disabled()) {
    return;
  }
  if (factory == nullptr) {
    python_gil_hooks.store(nullptr);
    return;
  }
  PythonGILHooks* none = nullptr;
  TORCH_INTERNAL_ASSERT(
      python_gil_hooks.compare_exchange_strong(none, factory),
      "SetPythonGILHooks: hooks are already set; take them away with SetPythonGILHooks(nullptr) first");
}

} // namespace c10::impl
