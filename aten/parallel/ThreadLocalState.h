// A thread's settings, to be carried to another thread that works for it.
#pragma once

#include <c10/util/SharedOf.h>
#include <aten/autocast/autocast_dtypes.h>
#include <c10/core/AutogradState.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/macros/Export.h>
#include <c10/macros/Macros.h>

#include <memory>
#include <utility>

namespace at {

namespace impl {

/// Settings that few threads have: callbacks of RecordFunction and debug info.
struct RareThreadState;
/// Those of this thread; null if it has none.
TORCH_API c10::SharedOf<const RareThreadState> rare_thread_state();
TORCH_API void set_rare_thread_state(const c10::SharedOf<const RareThreadState>& state);

/// Whether this thread may have some that have to be taken away.
extern TORCH_API __thread bool has_rare_thread_state __attribute__((tls_model("initial-exec")));

} // namespace impl

/// A copy of this thread's settings: included and excluded dispatch keys (so also whether autocast is on), the dtypes
/// of autocast, grad mode and inference mode, and what few threads have. Cheap: a few words.
class TORCH_API ThreadLocalState {
 public:
  ThreadLocalState()
      : dispatch_keys_(c10::impl::raw_local_dispatch_key_set),
        autograd_(c10::AutogradState::get_tls_state()),
        autocast_dtypes_(autocast::get_thread_dtypes()),
        rare_(impl::rare_thread_state()) {}

  void set_grad_mode(bool enabled) {
    autograd_.set_grad_mode(enabled);
  }
  void set_multithreading_enabled(bool enabled) {
    autograd_.set_multithreading_enabled(enabled);
  }

  /// Makes `state` the calling thread's settings.
  static void setThreadLocalState(const ThreadLocalState& state) {
    if (C10_UNLIKELY(impl::has_rare_thread_state || state.rare_)) {
      impl::set_rare_thread_state(state.rare_);
    }
    // After the callbacks, which come with a dispatch key.
    c10::impl::raw_local_dispatch_key_set = state.dispatch_keys_;
    c10::AutogradState::set_tls_state(state.autograd_);
    autocast::set_thread_dtypes(state.autocast_dtypes_);
  }

 private:
  c10::impl::PODLocalDispatchKeySet dispatch_keys_;
  c10::AutogradState autograd_;
  autocast::Dtypes autocast_dtypes_;
  c10::SharedOf<const impl::RareThreadState> rare_;
};

/// Gives the thread other settings while it lives.
class TORCH_API ThreadLocalStateGuard {
 public:
  explicit ThreadLocalStateGuard(const ThreadLocalState& state) {
    ThreadLocalState::setThreadLocalState(state);
  }
  ThreadLocalStateGuard(const ThreadLocalStateGuard&) = delete;
  ThreadLocalStateGuard& operator=(const ThreadLocalStateGuard&) = delete;
  ~ThreadLocalStateGuard() {
    ThreadLocalState::setThreadLocalState(previous_);
  }

 private:
  const ThreadLocalState previous_;
};

/// A function that calls `callback` with the settings that this thread has now.
template <typename T>
auto wrapPropagateTLSState(T callback) {
  return [state = ThreadLocalState(), callback = std::move(callback)](auto&&... args) {
    const ThreadLocalStateGuard guard(state);
    return callback(std::forward<decltype(args)>(args)...);
  };
}

} // namespace at
