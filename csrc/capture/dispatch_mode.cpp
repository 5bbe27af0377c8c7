#include <csrc/capture/dispatch_mode.h>

#include <mutex>

namespace torch::capture {

namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;

thread_local DispatchMode* current_mode = nullptr;

/// Whether the operator is made of others on every backend. Such ones come here from code that runs below Autograd.
bool is_composite(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) &&
      !op.hasKernelForAnyDispatchKey(DispatchKeySet({DispatchKey::CPU, DispatchKey::CUDA, DispatchKey::Meta}));
}

void mode_kernel(const c10::OperatorHandle& op, DispatchKeySet keys, torch::jit::Stack* stack) {
  const DispatchKeySet below = keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::Python);
  if (current_mode && is_composite(op)) {
    return op.redispatchBoxed(below, stack); // what it is made of comes here too
  }
  // What the operator's kernel calls is part of it.
  const c10::impl::ExcludeDispatchKeyGuard once(DispatchKeySet(DispatchKey::Python));
  if (current_mode) {
    current_mode->call(op, below, stack);
  } else {
    op.redispatchBoxed(below, stack);
  }
}

/// Registers the kernel when there is a first mode: programs without one do not have it.
void install() {
  static std::once_flag once;
  std::call_once(once, [] {
    static auto* const fallback = new c10::RegistrationHandleRAII(c10::Dispatcher::singleton().registerFallback(
        DispatchKey::Python, c10::KernelFunction::makeFromBoxedFunction<&mode_kernel>(), "torch::capture"));
    (void)fallback;
  });
}

} // namespace

DispatchMode* DispatchMode::current() {
  return current_mode;
}

DispatchMode::Scope::Scope(DispatchMode* mode) : include_(DispatchKeySet(DispatchKey::Python)), before_(current_mode) {
  install();
  current_mode = mode;
}

DispatchMode::Scope::~Scope() {
  current_mode = before_;
}

} // namespace torch::capture
