// What takes the operators that a thread calls.
#pragma once

#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/stack.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cstddef>

namespace torch::capture {

/// Gets the operators that a thread calls, below Autograd and autocast and above the backends, as a TorchDispatchMode
/// does in Python. Composite operators have been taken apart; what an operator's kernel calls is part of it.
class DispatchMode {
 public:
  virtual ~DispatchMode() = default;

  /// A call: takes the arguments from the stack and leaves the results. `keys` are those below the mode.
  virtual void call(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) = 0;
  /// Around a step of an optimizer, by its number in CompileOptions::optimizers.
  virtual void begin_step(size_t number) = 0;
  virtual void end_step() = 0;

  /// The one of this thread; null while there is none.
  static DispatchMode* current();

  /// The mode is that of the thread while the scope lasts.
  class Scope {
   public:
    explicit Scope(DispatchMode* mode);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    c10::impl::IncludeDispatchKeyGuard include_;
    DispatchMode* before_;
  };
};

} // namespace torch::capture
