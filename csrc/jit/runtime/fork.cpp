// Tasks: prim::fork, aten::wait, prim::awaitable.
#include <csrc/jit/runtime/run.h>

#include <aten/parallel/Parallel.h>
#include <aten/parallel/ThreadLocalState.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace torch::jit {

namespace {

// How many tasks a thread may run inside of each other where they wait. Deeper ones get a thread of their own: those of
// the pool may all wait themselves.
constexpr int kMaxNestedTasks = 64;
thread_local int nested_tasks = 0;

/// A forked call. Whoever is first runs it: a thread of the pool, or one that waits for it.
class Task {
 public:
  Task(const CompiledCode::Subgraph& subgraph, Stack stack, const TaskLauncher* launcher)
      : code_(subgraph.code),
        stack_(std::move(stack)),
        future_(c10::make_intrusive<c10::ivalue::Future>(subgraph.result)) {
    if (launcher) {
      launcher_ = *launcher;
    }
  }
  const c10::intrusive_ptr<c10::ivalue::Future>& future() const {
    return future_;
  }
  /// False if somebody else runs it, or has.
  bool run() {
    if (begun_.exchange(true)) {
      return false;
    }
    forget();
    const at::ThreadLocalStateGuard settings(settings_);
    try {
      run_code(*code_, stack_, launcher_ ? &launcher_ : nullptr);
      IValue result = pop(stack_);
      stack_.clear();
      future_->markCompleted(std::move(result));
    } catch (...) {
      stack_.clear();
      future_->setError(std::current_exception());
    }
    return true;
  }

  // Tasks that have not begun, by future.
  static void remember(const std::shared_ptr<Task>& task) {
    const std::lock_guard<std::mutex> lock(mutex());
    waiting()[task->future_.get()] = task;
  }
  static std::shared_ptr<Task> find(const c10::ivalue::Future* future) {
    const std::lock_guard<std::mutex> lock(mutex());
    const auto found = waiting().find(future);
    return found == waiting().end() ? nullptr : found->second;
  }

 private:
  void forget() {
    std::shared_ptr<Task> kept; // the entry may hold the last reference but for the caller's
    const std::lock_guard<std::mutex> lock(mutex());
    const auto found = waiting().find(future_.get());
    if (found != waiting().end()) {
      kept = std::move(found->second);
      waiting().erase(found);
    }
  }
  static std::mutex& mutex() {
    static std::mutex& mutex = *new std::mutex();
    return mutex;
  }
  static std::unordered_map<const c10::ivalue::Future*, std::shared_ptr<Task>>& waiting() {
    static auto& tasks = *new std::unordered_map<const c10::ivalue::Future*, std::shared_ptr<Task>>();
    return tasks;
  }

  std::shared_ptr<const CompiledCode> code_;
  Stack stack_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
  TaskLauncher launcher_;
  at::ThreadLocalState settings_;
  std::atomic<bool> begun_{false};
};

} // namespace

c10::intrusive_ptr<c10::ivalue::Future> fork_subgraph(
    const CompiledCode::Subgraph& subgraph, Stack& stack, const TaskLauncher* launcher) {
  const auto task = std::make_shared<Task>(subgraph, take_last(stack, subgraph.code->num_inputs), launcher);
  Task::remember(task);
  const auto work = [task] { task->run(); };
  if (launcher) {
    (*launcher)(work);
  } else {
    at::internal::launch_no_thread_state(work);
  }
  return task->future();
}

IValue wait_for(const c10::intrusive_ptr<c10::ivalue::Future>& future) {
  const std::shared_ptr<Task> task = future->completed() ? nullptr : Task::find(future.get());
  if (task && nested_tasks < kMaxNestedTasks) {
    ++nested_tasks;
    task->run();
    --nested_tasks;
  } else if (task) {
    std::thread([&task] { task->run(); }).join();
  }
  future->waitAndThrow();
  return future->value();
}

c10::intrusive_ptr<c10::ivalue::Await> put_off_subgraph(const CompiledCode::Subgraph& subgraph, Stack& stack) {
  auto call = [code = std::shared_ptr<const CompiledCode>(subgraph.code),
               inputs = take_last(stack, subgraph.code->num_inputs)]() mutable {
    Stack own = std::move(inputs);
    run_code(*code, own);
    return pop(own);
  };
  return c10::make_intrusive<c10::ivalue::Await>(subgraph.result, std::move(call));
}

} // namespace torch::jit
