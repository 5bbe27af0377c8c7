#pragma once

#include <type_traits>
#include <utility>

namespace c10 {

/// Runs a callable at the end of the scope, unless released.
template <typename Callable>
class scope_exit {
 public:
  template <typename F>
  explicit scope_exit(F&& function) : function_(std::forward<F>(function)) {}
  scope_exit(scope_exit&& other) : function_(std::move(other.function_)), engaged_(other.engaged_) {
    other.release();
  }
  scope_exit(const scope_exit&) = delete;
  scope_exit& operator=(const scope_exit&) = delete;
  scope_exit& operator=(scope_exit&&) = delete;
  void release() {
    engaged_ = false;
  }
  ~scope_exit() {
    if (engaged_) {
      function_();
    }
  }

 private:
  Callable function_;
  bool engaged_ = true;
};

template <typename Callable>
[[nodiscard]] scope_exit<std::decay_t<Callable>> make_scope_exit(Callable&& function) {
  return scope_exit<std::decay_t<Callable>>(std::forward<Callable>(function));
}

} // namespace c10
