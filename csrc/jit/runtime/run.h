// The parts of the interpreter.
#pragma once

#include <aten/core/stack.h>
#include <csrc/jit/runtime/code.h>
#include <csrc/jit/runtime/interpreter.h>

namespace torch::jit {

/// Moves the last values off the stack.
Stack take_last(Stack& stack, size_t count);

/// Runs it on the stack. Without launcher, tasks go to the inter-op pool.
void run_code(const CompiledCode& code, Stack& stack, const TaskLauncher* launcher = nullptr);

/// Starts a subgraph, with the last values of the stack, as a task. Returns its future.
c10::intrusive_ptr<c10::ivalue::Future> fork_subgraph(
    const CompiledCode::Subgraph& subgraph, Stack& stack, const TaskLauncher* launcher);
/// Waits for the future and returns its value, or throws its error. A task that has not begun is run right here, so
/// that tasks may wait for tasks however few threads there are.
c10::IValue wait_for(const c10::intrusive_ptr<c10::ivalue::Future>& future);
/// A call of a subgraph, with the last values of the stack, for when somebody waits.
c10::intrusive_ptr<c10::ivalue::Await> put_off_subgraph(const CompiledCode::Subgraph& subgraph, Stack& stack);

} // namespace torch::jit
