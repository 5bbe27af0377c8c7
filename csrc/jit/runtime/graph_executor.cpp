#include <csrc/jit/runtime/graph_executor.h>

#include <c10/util/Exception.h>
#include <csrc/jit/passes/dead_code_elimination.h>
#include <csrc/jit/passes/optimize.h>
#include <csrc/jit/passes/remove_expands.h>

#include <atomic>
#include <mutex>
#include <utility>

namespace torch::jit {

struct GraphExecutor::State {
  std::shared_ptr<Graph> graph;
  std::string function_name;
  std::mutex mutex;
  std::shared_ptr<Graph> simplified;
  ExecutionPlan plan;
};

GraphExecutor::GraphExecutor(const std::shared_ptr<Graph>& graph, std::string function_name)
    : state_(std::make_shared<State>()) {
  TORCH_CHECK(graph, "a GraphExecutor needs a graph");
  state_->graph = graph->copy();
  state_->function_name = std::move(function_name);
}

GraphExecutor::GraphExecutor(const std::shared_ptr<Graph>& graph, std::string function_name, ExecutorExecutionMode)
    : GraphExecutor(graph, std::move(function_name)) {}

const ExecutionPlan& GraphExecutor::getInputIndependentPlan() {
  TORCH_CHECK(state_, "this GraphExecutor is empty: make it of a graph");
  const std::lock_guard<std::mutex> lock(state_->mutex);
  if (!state_->plan) {
    state_->simplified = state_->graph->copy();
    std::shared_ptr<Graph> to_run = state_->simplified;
    if (getGraphExecutorOptimize()) {
      preoptimizeGraph(state_->simplified);
      to_run = state_->simplified->copy();
      optimizeForExecution(to_run);
    }
    state_->plan = ExecutionPlan(std::move(to_run), state_->function_name);
  }
  return state_->plan;
}

const ExecutionPlan& GraphExecutor::getPlanFor(Stack&, std::optional<size_t>) {
  return getInputIndependentPlan();
}

void GraphExecutor::run(Stack& inputs) {
  const ExecutionPlan& plan = getInputIndependentPlan();
  noteExecuted(plan.graph);
  InterpreterState(plan.code).run(inputs);
}

c10::intrusive_ptr<c10::ivalue::Future> GraphExecutor::runAsync(Stack& stack, TaskLauncher taskLauncher) {
  const ExecutionPlan& plan = getInputIndependentPlan();
  noteExecuted(plan.graph);
  return InterpreterState(plan.code, std::move(taskLauncher)).runAsync(stack);
}

GraphExecutorState GraphExecutor::getDebugState() {
  GraphExecutorState state;
  if (state_) {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state.graph = (state_->simplified ? state_->simplified : state_->graph).get();
    if (state_->plan) {
      state.fallback = state_->plan;
      state.execution_plans.emplace(ArgumentSpec(0, 0), state_->plan);
    }
  }
  return state;
}

void GraphExecutor::debugFlushCompilationCache() {
  if (state_) {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->plan = ExecutionPlan();
    state_->simplified = nullptr;
  }
}

bool GraphExecutor::isOptimized() const {
  return state_ && getGraphExecutorOptimize();
}

void runRequiredPasses(const std::shared_ptr<Graph>& g) {
  RemoveExpands(g);
  EliminateDeadCode(g);
}

// ---- the last graph -------------------------------------------------------------------------------------------------

namespace {

struct LastExecuted {
  const Graph* graph = nullptr;
  std::weak_ptr<Graph> owner;
};

LastExecuted& last_executed() {
  thread_local LastExecuted last;
  return last;
}

std::atomic<bool> autodiff_subgraph_inlining{true};

} // namespace

void noteExecuted(const std::shared_ptr<Graph>& graph) {
  LastExecuted& last = last_executed();
  // Mostly it is the same again, and counting references costs more than looking.
  if (last.graph != graph.get() || last.owner.expired()) {
    last = {graph.get(), graph};
  }
}

std::shared_ptr<Graph> lastExecutedOptimizedGraph() {
  return last_executed().owner.lock();
}

void debugSetAutodiffSubgraphInlining(bool state) {
  autodiff_subgraph_inlining = state;
}

bool getAutodiffSubgraphInlining() {
  return autodiff_subgraph_inlining;
}

bool IsNewExecutorEnabled() {
  return true;
}

} // namespace torch::jit
