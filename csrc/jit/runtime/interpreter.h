// Runs graphs.
#pragma once

#include <aten/core/ivalue.h>
#include <aten/core/stack.h>
#include <aten/parallel/ThreadLocalState.h>
#include <c10/util/intrusive_ptr.h>

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torch::jit {

struct CompiledCode;
struct Graph;
struct Instruction;

/// Starts a task, now or later, in any thread.
using TaskLauncher = std::function<void(std::function<void()>)>;

/// A graph as instructions. Cheap to copy; any number of threads may run it at once.
struct TORCH_API Code {
  Code() = default;
  /// Throws if something in the graph cannot be run. The name is what errors call the function.
  explicit Code(const std::shared_ptr<Graph>& graph, std::string function_name, size_t remaining_bailout_depth = 0);

  size_t num_inputs() const;
  size_t num_outputs() const;
  size_t register_size() const;
  const std::vector<c10::IValue>& constant_table() const;
  const std::vector<Instruction>& instructions() const;
  std::shared_ptr<Graph> graph() const;
  explicit operator bool() const {
    return code_ != nullptr;
  }
  friend TORCH_API std::ostream& operator<<(std::ostream& out, const Code& code);

 private:
  friend struct InterpreterState;
  friend struct GraphFunction;
  std::shared_ptr<const CompiledCode> code_;
};

/// One run.
struct TORCH_API InterpreterState {
  explicit InterpreterState(const Code& code, TaskLauncher launcher = nullptr);

  /// Takes the inputs from the end of the stack and leaves the outputs there. Errors begin with the trace of the
  /// program.
  void run(Stack& stack);
  /// As run(), with the result, or the error, in a future. A function with several results gives a tuple.
  c10::intrusive_ptr<c10::ivalue::Future> runAsync(Stack& stack);
  /// What runAsync() returns.
  c10::intrusive_ptr<c10::ivalue::Future> getFuture();

 private:
  Code code_;
  TaskLauncher launcher_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

/// A run with its inputs, as a task: the result is in the state's future.
struct TORCH_API InterpreterContinuation {
  InterpreterContinuation(
      InterpreterState state,
      Stack stack,
      int64_t dist_autograd_context_id = 0,
      std::optional<at::ThreadLocalState> tls_state = std::nullopt);
  void operator()();

 private:
  InterpreterState state_;
  Stack stack_;
  std::optional<at::ThreadLocalState> tls_state_;
};

} // namespace torch::jit
