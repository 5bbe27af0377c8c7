#pragma once

#include <c10/core/AutogradState.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/macros/Export.h>

namespace c10 {

/// While it lives, calls skip autograd and view tracking, and new tensors ("inference tensors") have neither autograd
/// keys nor a version counter. InferenceMode(false) switches back to normal inside an inference scope.
struct C10_API InferenceMode {
  InferenceMode(bool enabled = true)
      : prev_mode_(AutogradState::get_tls_state()), prev_keyset_(impl::raw_local_dispatch_key_set) {
    AutogradState::set_tls_state(AutogradState(
        /*grad_mode=*/!enabled,
        /*inference_mode=*/enabled,
        /*fw_grad_mode=*/!enabled,
        /*multithreading_enabled=*/!enabled));
    auto& state = impl::raw_local_dispatch_key_set;
    const DispatchKeySet included = state.included();
    const DispatchKeySet excluded = state.excluded();
    state.set_included(enabled ? included - inplace_or_view_ks : included | inplace_or_view_ks);
    state.set_excluded(enabled ? excluded | autograd_dispatch_keyset : excluded - autograd_dispatch_keyset);
  }
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;
  ~InferenceMode() {
    AutogradState::set_tls_state(prev_mode_);
    impl::raw_local_dispatch_key_set = prev_keyset_;
  }

  static bool is_enabled() {
    return AutogradState::get_tls_state().get_inference_mode();
  }

 private:
  AutogradState prev_mode_;
  impl::PODLocalDispatchKeySet prev_keyset_;
};

} // namespace c10
