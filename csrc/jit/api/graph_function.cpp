#include <csrc/jit/api/graph_function.h>

#include <aten/observe/record_function.h>
#include <csrc/jit/api/compile_lock.h>
#include <csrc/jit/executor_settings.h>
#include <csrc/jit/passes/optimize.h>
#include <csrc/jit/runtime/code.h>
#include <csrc/jit/runtime/graph_executor.h>
#include <csrc/jit/runtime/run.h>

#include <utility>

namespace torch::jit {

GraphFunction::GraphFunction(c10::QualifiedName name, std::shared_ptr<Graph> graph, Creator creator)
    : name_(std::move(name)), graph_(std::move(graph)), creator_(std::move(creator)), defined_(!creator_) {}

GraphFunction::~GraphFunction() = default;

std::unique_lock<std::recursive_mutex> compile_lock() {
  // Never destroyed: threads may still compile when the program ends.
  static std::recursive_mutex& mutex = *new std::recursive_mutex();
  return std::unique_lock<std::recursive_mutex>(mutex);
}

// ---- the graph ------------------------------------------------------------------------------------------------------

void GraphFunction::ensure_defined() {
  if (is_defined()) {
    return;
  }
  const auto held = compile_lock();
  TORCH_CHECK(!being_defined_, " function '", name(), "' is called recursively. Recursive calls are not supported");
  if (!creator_) {
    return;
  }
  being_defined_ = true;
  try {
    creator_(*this);
  } catch (...) {
    // What was made of the graph is of no use to another try.
    being_defined_ = false;
    graph_ = std::make_shared<Graph>();
    schema_.reset();
    throw;
  }
  being_defined_ = false;
  creator_ = nullptr;
  defined_.store(true, std::memory_order_release);
}

std::shared_ptr<Graph> GraphFunction::graph() const {
  const auto held = compile_lock();
  // Its creator asks for the graph that it fills.
  if (!being_defined_) {
    const_cast<GraphFunction*>(this)->ensure_defined();
  }
  return graph_;
}

std::shared_ptr<Graph> GraphFunction::optimized_graph() const {
  const auto held = compile_lock();
  if (!getGraphExecutorOptimize()) {
    return graph();
  }
  if (!optimized_graph_) {
    std::shared_ptr<Graph> optimized = graph()->copy();
    preoptimizeGraph(optimized);
    optimized_graph_ = std::move(optimized);
  }
  return optimized_graph_;
}

void GraphFunction::set_graph(std::shared_ptr<Graph> graph) {
  const auto held = compile_lock();
  graph_ = std::move(graph);
  creator_ = nullptr;
  defined_.store(true, std::memory_order_release);
  clear_optimized_graphs();
}

void GraphFunction::clear_optimized_graphs() {
  const auto held = compile_lock();
  optimized_graph_ = nullptr;
  executor_ = nullptr;
  for (size_t i = 0; i < 2; ++i) {
    ready_code_[i] = nullptr;
    code_[i] = nullptr;
  }
}

// ---- running --------------------------------------------------------------------------------------------------------

const CompiledCode& GraphFunction::code() {
  const size_t optimized = getGraphExecutorOptimize() ? 1 : 0;
  if (const CompiledCode* ready = ready_code_[optimized].load(std::memory_order_acquire)) {
    return *ready;
  }
  const auto held = compile_lock();
  if (!code_[optimized]) {
    std::shared_ptr<Graph> to_run = graph();
    if (optimized) {
      to_run = (optimized_graph_ ? optimized_graph_ : to_run)->copy();
      if (!optimized_graph_) {
        preoptimizeGraph(to_run);
      }
      optimizeForExecution(to_run);
    }
    code_[optimized] = std::make_shared<CompiledCode>(std::move(to_run), name());
    ready_code_[optimized].store(code_[optimized].get(), std::memory_order_release);
  }
  return *code_[optimized];
}

void GraphFunction::run(Stack& stack) {
  const CompiledCode& code = this->code();
  TORCH_CHECK(stack.size() >= code.num_inputs, "expected ", code.num_inputs, " inputs, but got only ", stack.size());
  RECORD_TORCHSCRIPT_FUNCTION(name(), last(stack, code.num_inputs));
  noteExecuted(code.graph);
  run_code(code, stack);
}

c10::intrusive_ptr<c10::ivalue::Future> GraphFunction::runAsync(Stack& stack, TaskLauncher launcher) {
  code();
  Code ready;
  {
    const auto held = compile_lock();
    ready.code_ = code_[getGraphExecutorOptimize() ? 1 : 0];
  }
  TORCH_CHECK(
      stack.size() >= ready.num_inputs(), "expected ", ready.num_inputs(), " inputs, but got only ", stack.size());
  return InterpreterState(ready, std::move(launcher)).runAsync(stack);
}

GraphExecutor& GraphFunction::get_executor() {
  const auto held = compile_lock();
  if (!executor_) {
    executor_ = std::make_unique<GraphExecutor>(optimized_graph(), name());
  }
  return *executor_;
}

GraphExecutorState GraphFunction::getDebugState() {
  return get_executor().getDebugState();
}

// ---- the schema -----------------------------------------------------------------------------------------------------

const c10::FunctionSchema& GraphFunction::getSchema() const {
  if (const c10::FunctionSchema* ready = ready_schema_.load(std::memory_order_acquire)) {
    return *ready;
  }
  const auto held = compile_lock();
  if (!schema_ && !being_defined_) {
    const_cast<GraphFunction*>(this)->ensure_defined();
  }
  if (!schema_) {
    schema_ = defaultSchemaFor(*this);
  }
  if (is_defined()) {
    ready_schema_.store(&*schema_, std::memory_order_release);
  }
  return *schema_;
}

Function& GraphFunction::setSchema(c10::FunctionSchema schema) {
  const auto held = compile_lock();
  ready_schema_.store(nullptr, std::memory_order_release);
  schema_ = std::move(schema);
  return *this;
}

size_t GraphFunction::num_inputs() const {
  for (const std::atomic<const CompiledCode*>& ready : ready_code_) {
    if (const CompiledCode* code = ready.load(std::memory_order_acquire)) {
      return code->num_inputs;
    }
  }
  return graph()->inputs().size();
}

void GraphFunction::check_single_output() {
  TORCH_CHECK(
      graph()->outputs().size() == 1,
      "Method (but not graphs in general) require a single output. Use None/Tuple "
      "for 0 or 2+ outputs");
}

namespace {

// What was seen of a tensor when its function was traced says nothing of the tensors of later calls.
TypePtr without_shape(const TypePtr& type) {
  return type->kind() == TypeKind::TensorType ? TypePtr(TensorType::get()) : type;
}

} // namespace

c10::FunctionSchema defaultSchemaFor(const GraphFunction& function) {
  const std::shared_ptr<Graph> graph = function.graph();
  std::vector<c10::Argument> arguments;
  for (const Value* input : graph->inputs()) {
    arguments.emplace_back(input->debugNameBase(), without_shape(input->type()));
  }
  std::vector<c10::Argument> returns;
  for (const Value* output : graph->outputs()) {
    returns.emplace_back("", without_shape(output->type()));
  }
  return c10::FunctionSchema(function.name(), "", std::move(arguments), std::move(returns));
}

GraphFunction* tryToGraphFunction(Function& function) {
  return function.isGraphFunction() ? static_cast<GraphFunction*>(&function) : nullptr;
}

GraphFunction& toGraphFunction(Function& function) {
  GraphFunction* graph_function = tryToGraphFunction(function);
  TORCH_CHECK(
      graph_function, "Failed to downcast a Function to a GraphFunction. ", function.name(),
      " is bound to C++ code and has no graph.");
  return *graph_function;
}

const GraphFunction& toGraphFunction(const Function& function) {
  return toGraphFunction(const_cast<Function&>(function));
}

} // namespace torch::jit
