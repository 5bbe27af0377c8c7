#pragma once

#include <c10/macros/Export.h>

namespace c10 {

/// The calling thread's autograd switches. Small and copyable, so that they can be carried to another thread.
struct C10_API AutogradState {
  static AutogradState& get_tls_state();
  static void set_tls_state(AutogradState state);

  constexpr AutogradState(bool grad_mode, bool inference_mode, bool fw_grad_mode, bool multithreading_enabled)
      : grad_mode_(grad_mode),
        inference_mode_(inference_mode),
        fw_grad_mode_(fw_grad_mode),
        multithreading_enabled_(multithreading_enabled) {}

  void set_grad_mode(bool enabled) {
    grad_mode_ = enabled;
  }
  void set_fw_grad_mode(bool enabled) {
    fw_grad_mode_ = enabled;
  }
  void set_inference_mode(bool enabled) {
    inference_mode_ = enabled;
  }
  void set_multithreading_enabled(bool enabled) {
    multithreading_enabled_ = enabled;
  }
  void set_view_replay_enabled(bool enabled) {
    view_replay_enabled_ = enabled;
  }
  bool get_grad_mode() const {
    return grad_mode_;
  }
  bool get_fw_grad_mode() const {
    return fw_grad_mode_;
  }
  bool get_inference_mode() const {
    return inference_mode_;
  }
  bool get_multithreading_enabled() const {
    return multithreading_enabled_;
  }
  bool get_view_replay_enabled() const {
    return view_replay_enabled_;
  }

 private:
  bool grad_mode_;
  bool inference_mode_;
  bool fw_grad_mode_;
  bool multithreading_enabled_;
  bool view_replay_enabled_ = false;
};

namespace impl {
extern C10_API __thread AutogradState raw_autograd_state __attribute__((tls_model("initial-exec")));
} // namespace impl

inline AutogradState& AutogradState::get_tls_state() {
  return impl::raw_autograd_state;
}

inline void AutogradState::set_tls_state(AutogradState state) {
  impl::raw_autograd_state = state;
}

} // namespace c10
