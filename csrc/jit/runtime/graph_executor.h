// A graph with the code that runs it, as libtorch's tools look at it.
#pragma once

#include <csrc/jit/executor_settings.h>
#include <csrc/jit/ir/ir.h>
#include <csrc/jit/runtime/argument_spec.h>
#include <csrc/jit/runtime/interpreter.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

namespace torch::jit {

/// How libtorch's executors work. Here both run the same code.
enum ExecutorExecutionMode { SIMPLE, PROFILING };

/// A graph as it runs, and its code.
struct ExecutionPlan {
  ExecutionPlan() = default;
  /// Throws if something in the graph cannot be run.
  ExecutionPlan(std::shared_ptr<Graph> graph, std::string function_name)
      : code(graph, std::move(function_name)), graph(std::move(graph)) {}
  operator bool() const {
    return static_cast<bool>(graph);
  }

  Code code;
  std::shared_ptr<Graph> graph;
};

/// A look at an executor: valid until it is used again.
struct GraphExecutorState {
  /// Inlined and simplified.
  const Graph* graph = nullptr;
  /// The plan, once there is one.
  ExecutionPlan fallback;
  /// The same plan.
  std::unordered_map<ArgumentSpec, ExecutionPlan> execution_plans;
};

/// Runs one graph, which is optimized when it first runs. Copies share the graph and its plan.
struct TORCH_API GraphExecutor {
  GraphExecutor() = default;
  GraphExecutor(const std::shared_ptr<Graph>& graph, std::string function_name);
  /// The mode makes no difference.
  GraphExecutor(const std::shared_ptr<Graph>& graph, std::string function_name, ExecutorExecutionMode executor_mode);

  /// Takes the inputs from the end of the stack and leaves the outputs there.
  void run(Stack& inputs);
  /// As run(), with the result, or the error, in a future. What the program forks is given to `taskLauncher`; null: to
  /// the inter-op threads.
  c10::intrusive_ptr<c10::ivalue::Future> runAsync(Stack& stack, TaskLauncher taskLauncher = nullptr);
  /// The plan for all inputs: neither they nor the depth matter.
  const ExecutionPlan& getPlanFor(Stack& inputs, std::optional<size_t> remaining_bailout_depth = std::nullopt);
  const ExecutionPlan& getInputIndependentPlan();
  GraphExecutorState getDebugState();
  /// The plan is made anew. No thread may be running it.
  void debugFlushCompilationCache();
  bool isOptimized() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// What must be done to a graph before the interpreter takes it: nothing here, but expansions that broadcasting makes
/// are removed, and dead code.
TORCH_API void runRequiredPasses(const std::shared_ptr<Graph>& g);

/// The graph, as it ran, of the function that this thread called last from outside of a program; null if there is none,
/// or it is gone.
TORCH_API std::shared_ptr<Graph> lastExecutedOptimizedGraph();
/// Remembers it for lastExecutedOptimizedGraph().
void noteExecuted(const std::shared_ptr<Graph>& graph);

/// Kept as it is set: gradients are those of the operators, not of graphs.
TORCH_API void debugSetAutodiffSubgraphInlining(bool state);
TORCH_API bool getAutodiffSubgraphInlining();
/// Always true.
TORCH_API bool IsNewExecutorEnabled();

} // namespace torch::jit
