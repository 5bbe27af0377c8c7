#include <autograd/engine.h>

#include <aten/Functions.h>
#include <aten/observe/record_function.h>
#include <autograd/forward/levels.h>
#include <autograd/functions/basic_ops.h>
#include <autograd/functions/utils.h>
#include <autograd/graph_task.h>
#include <autograd/ready_queue.h>
#include <autograd/saved_variable.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <new>
#include <optional>

namespace torch::autograd {

namespace {

// What this thread is doing in which backward pass.
struct ThreadState {
  GraphTask* task = nullptr;
  Node* node = nullptr;
  const std::shared_ptr<ReadyQueue>* queue = nullptr; // what this thread serves
  int depth = 0; // passes on this thread's stack
  bool compute_all_outputs = false;
};
__thread ThreadState this_thread __attribute__((tls_model("initial-exec")));

// Enters a node, and with it the state its pass was started in: grad mode, dispatch keys. Set for each node, since
// hooks and custom functions may leave other settings behind.
class NodeScope {
 public:
  NodeScope(GraphTask& task, Node& node) : previous_(this_thread) {
    this_thread.task = &task;
    this_thread.node = &node;
    this_thread.compute_all_outputs = false;
    at::ThreadLocalState::setThreadLocalState(task.thread_locals_);
    previous_hooks_ = impl::exchange_default_saved_tensor_hooks(task.saved_tensor_hooks_);
    previous_hidden_levels_ = forward_ad::HiddenLevel::exchange(task.hidden_levels_);
  }
  NodeScope(const NodeScope&) = delete;
  NodeScope& operator=(const NodeScope&) = delete;
  ~NodeScope() {
    this_thread = previous_;
    impl::exchange_default_saved_tensor_hooks(previous_hooks_);
    forward_ad::HiddenLevel::exchange(previous_hidden_levels_);
  }

 private:
  const ThreadState previous_;
  const SavedVariableHooksFactory* previous_hooks_;
  const forward_ad::HiddenLevel* previous_hidden_levels_;
};

// Ends a pass, while this thread still counts as in it: final callbacks may queue more of them.
void finish(GraphTask& task) {
  const ThreadState previous = this_thread;
  this_thread.task = &task;
  this_thread.node = nullptr;
  task.finish();
  this_thread.task = previous.task;
  this_thread.node = previous.node;
}

void call_pre_hook(FunctionPreHook& hook, const Node& fn, variable_list& inputs) {
  inputs = hook(inputs);
  TORCH_CHECK(
      inputs.size() == fn.num_inputs(), "a pre-hook of ", fn.name(), " has returned ", inputs.size(),
      " gradients; there must be ", fn.num_inputs());
}

variable_list call_tensor_pre_hooks(Node& fn, variable_list inputs) {
  for (const auto& hook : fn.tensor_pre_hooks()) {
    call_pre_hook(*hook, fn, inputs);
  }
  for (const auto& position_and_hook : std::as_const(fn).retains_grad_hooks()) {
    call_pre_hook(*position_and_hook.second, fn, inputs);
  }
  return inputs;
}

variable_list call_unobserved_node(Node& fn, variable_list&& inputs) {
  // Without recording, what a generated node computes has no history and its fresh results no views to track: its
  // operators may go straight to their kernels, unless there may be tangents.
  if (fn.is_traceable() && !GradMode::is_enabled() && !forward_ad::any_level()) {
    const c10::impl::ExcludeDispatchKeyGuard guard(c10::autograd_dispatch_keyset_with_ADInplaceOrView);
    return fn(std::move(inputs));
  }
  return fn(std::move(inputs));
}

C10_NOINLINE variable_list call_observed_node(Node& fn, variable_list&& inputs) {
  at::RecordFunction record(at::RecordScope::BACKWARD_FUNCTION);
  if (record.isActive()) {
    record.setForwardThreadId(this_thread.task->caller_thread_);
    const auto sequence_nr = static_cast<int64_t>(fn.sequence_nr());
    const std::string name = fn.name();
    if (record.needsInputs()) {
      const std::vector<c10::IValue> values(inputs.begin(), inputs.end());
      record.before(name, &values, sequence_nr);
    } else {
      record.before(name, sequence_nr);
    }
  }
  return call_unobserved_node(fn, std::move(inputs));
}

variable_list call_node(Node& fn, variable_list&& inputs) {
  return C10_UNLIKELY(at::impl::has_active_callbacks()) ? call_observed_node(fn, std::move(inputs))
                                                        : call_unobserved_node(fn, std::move(inputs));
}

variable_list call_function(const GraphTask& task, Node& fn, variable_list&& inputs) {
  const bool hooked = fn.has_hooks();
  if (hooked) {
    inputs = call_tensor_pre_hooks(fn, std::move(inputs));
    for (const auto& hook : std::as_const(fn).pre_hooks()) {
      call_pre_hook(*hook, fn, inputs);
    }
  }
  if (!task.keep_graph_) {
    fn.will_release_variables();
  }
  const bool post_hooked = hooked && !std::as_const(fn).post_hooks().empty();
  variable_list outputs = post_hooked ? call_node(fn, variable_list(inputs)) : call_node(fn, std::move(inputs));
  validate_outputs(fn.next_edges(), outputs, [&fn](const std::string& problem) {
    return c10::str("Function ", fn.name(), " returned an ", problem);
  });
  if (post_hooked) {
    for (const auto& hook : std::as_const(fn).post_hooks()) {
      outputs = (*hook)(outputs, inputs);
    }
    validate_outputs(fn.next_edges(), outputs, [&fn](const std::string& problem) {
      return c10::str("A hook of ", fn.name(), " returned an ", problem);
    });
  }
  return outputs;
}

// The node with its hooks and checks, under the name that libtorch's traces have for that.
C10_NOINLINE variable_list call_observed_function(const GraphTask& task, Node& fn, variable_list&& inputs) {
  at::RecordFunction record;
  if (record.isActive()) {
    record.setForwardThreadId(task.caller_thread_);
    record.before("autograd::engine::evaluate_function: " + fn.name(), static_cast<int64_t>(fn.sequence_nr()));
  }
  return call_function(task, fn, std::move(inputs));
}

void check_no_nan(const Node& fn, const variable_list& outputs) {
  const AutoGradMode no_grad(false);
  for (size_t i = 0; i < outputs.size(); ++i) {
    TORCH_CHECK(
        !outputs[i].defined() || !at::isnan(outputs[i]).any().item<bool>(), "Function '", fn.name(),
        "' returned nan values in its ", i, "th output.");
  }
}

void check_edges(const char* what, const edge_list& edges) {
  for (const Edge& edge : edges) {
    TORCH_CHECK(edge.is_valid(), "Engine::execute: ", what, " ", &edge - edges.begin(), " leads to no node");
  }
}

} // namespace

std::shared_ptr<Node> get_current_node() {
  return this_thread.node ? this_thread.node->getptr() : nullptr;
}

bool get_current_graph_task_keep_graph() {
  return this_thread.task != nullptr && this_thread.task->keep_graph_;
}

int64_t get_current_graph_task_id() {
  return this_thread.task ? static_cast<int64_t>(this_thread.task->id_) : -1;
}

GraphTask* outermost_graph_task() {
  return this_thread.task ? this_thread.task->outermost_ : nullptr;
}

void queue_final_callback(std::function<void()> clean_up) {
  GraphTask* task = this_thread.task;
  TORCH_INTERNAL_ASSERT(task, "queue_final_callback outside of a backward pass");
  const std::lock_guard<std::mutex> lock(task->final_callbacks_lock_);
  task->at_end_.push_back(std::move(clean_up));
}

bool current_task_needs(const Node* next) {
  GraphTask* task = this_thread.task;
  if (task == nullptr || !task->has_exec_info_ || this_thread.compute_all_outputs) {
    return true;
  }
  const NodeState* state = task->nodes_.find(next);
  return state && state->should_execute();
}

bool current_pass_runs(const Node* node) {
  GraphTask* task = this_thread.task;
  const NodeState* state = task ? task->nodes_.find(node) : nullptr;
  return state != nullptr && (!task->has_exec_info_ || state->should_execute());
}

QueueScope::QueueScope(std::shared_ptr<ReadyQueue> queue) : queue_(std::move(queue)), previous_(this_thread.queue) {
  this_thread.queue = queue_ ? &queue_ : nullptr;
}

QueueScope::~QueueScope() {
  this_thread.queue = previous_;
}

std::shared_ptr<ReadyQueue> QueueScope::current() {
  return this_thread.queue ? *this_thread.queue : nullptr;
}

ComputeAllOutputsGuard::ComputeAllOutputsGuard() : previous_(this_thread.compute_all_outputs) {
  this_thread.compute_all_outputs = true;
}

ComputeAllOutputsGuard::~ComputeAllOutputsGuard() {
  this_thread.compute_all_outputs = previous_;
}

Engine::Engine() = default;
Engine::~Engine() = default;

Engine& Engine::get_default_engine() {
  // Never destroyed: threads of the engine may still wait in it when the process exits.
  struct DefaultEngine final : Engine {};
  static Engine* const engine = new DefaultEngine();
  return *engine;
}

bool Engine::is_checkpoint_valid() {
  return this_thread.task == nullptr || this_thread.task->checkpointable_;
}

void Engine::queue_callback(std::function<void()> callback) {
  GraphTask* task = this_thread.task;
  TORCH_CHECK(task, "Final callbacks can only be installed during backward pass.");
  const std::lock_guard<std::mutex> lock(task->final_callbacks_lock_);
  task->final_callbacks_.emplace_back(std::move(callback));
}

variable_list Engine::execute(
    const edge_list& roots,
    const variable_list& inputs,
    bool keep_graph,
    bool create_graph,
    bool accumulate_grad,
    const edge_list& outputs) try {
  check_edges("root", roots);
  check_edges("output", outputs);
  variable_list grads = inputs;
  validate_outputs(roots, grads, [](const std::string& problem) { return problem; });
  if (accumulate_grad && create_graph) {
    TORCH_WARN_ONCE(
        "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
        "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If "
        "you have to use this function, make sure to reset the .grad fields of your parameters to None after use to "
        "break the cycle and avoid the leak.");
  }

  const bool single_root = roots.size() == 1;
  const std::shared_ptr<Node> root = single_root ? roots[0].function : make_node<GraphRoot>(roots, grads);
  uint64_t min_topo_nr = outputs.empty() ? 0 : UINT64_MAX;
  for (const Edge& output : outputs) {
    min_topo_nr = std::min(min_topo_nr, output.function->topological_nr());
  }

  const auto task = std::make_shared<GraphTask>(keep_graph, create_graph, this_thread.task);
  task->compute_dependencies(*root, min_topo_nr);
  if (!outputs.empty()) {
    task->init_to_execute(outputs, accumulate_grad);
  }
  NodeState& root_state = task->nodes_[0];
  if (single_root) {
    root_state.inputs = InputBuffer(root->num_inputs());
    root_state.inputs.add(roots[0].input_nr, std::move(grads[0]));
    grads.clear();
  }
  run_pass(*task, root_state);
  return task->take_results();
} catch (const std::bad_alloc&) { // as of operators: see Note [Memory that ends in a call]
  TORCH_CHECK_WITH(
      OutOfMemoryError, false,
      "backward: not enough memory for the pass itself, or for what its nodes need beside tensors");
}

// Note [Backward passes within backward passes]
// A hook or custom function may call backward() itself, to any depth. The inner pass runs at once, on the same thread,
// on top of the stack, and is complete when its caller goes on. Two facts limit this. The stack is finite, so every
// MAX_DEPTH levels the pass moves to a thread with a fresh stack while its caller waits. And where several threads take
// part, the thread that waits for an inner pass must not sleep: nodes for its device may come in, of the inner pass or
// of any other, and another thread may wait for them. So it works on its queue, inner passes first.
void Engine::run_pass(GraphTask& task, NodeState& root) {
  if (!task.on_one_thread_) {
    // A thread keeps its queue for inner passes, so that nodes of all its passes reach it at one place.
    task.cpu_queue_ = this_thread.queue ? *this_thread.queue : std::make_shared<ReadyQueue>();
  }
  if (this_thread.depth >= MAX_DEPTH) {
    run_on_fresh_stack(task, root);
  } else {
    drain(task, root);
  }
}

namespace {

// Keeps this thread's own settings apart from those of the passes it works on.
class PassScope {
 public:
  PassScope() {
    ++this_thread.depth;
  }
  PassScope(const PassScope&) = delete;
  PassScope& operator=(const PassScope&) = delete;
  ~PassScope() {
    --this_thread.depth;
    at::ThreadLocalState::setThreadLocalState(own_);
  }

 private:
  const at::ThreadLocalState own_;
};

} // namespace

void Engine::drain(GraphTask& task, NodeState& root) {
  // First of all: when there is no memory for it, no queue may know a node of a pass that has failed already.
  const PassScope scope;
  if (task.on_one_thread_) {
    enqueue(task, root);
    run_on_one_thread(task);
  } else {
    const QueueScope queue(task.cpu_queue_);
    enqueue(task, root);
    work_on(*task.cpu_queue_, &task);
  }
}

void Engine::run_on_one_thread(GraphTask& task) {
  while (!task.local_queue_.empty() && !task.has_error()) {
    run_node(task, *task.local_queue_.pop().state);
  }
  task.local_queue_.clear();
  finish(task);
}

void Engine::work_on(ReadyQueue& queue, const GraphTask* until) {
  while (until == nullptr || !until->completed()) {
    const NodeTask item = queue.pop();
    if (item.task == nullptr) {
      continue;
    }
    // The pass may end, and its caller go, before this thread has told the caller.
    const std::shared_ptr<GraphTask> task = item.task->shared_from_this();
    run_node(*task, *item.state);
    if (task->finish_one()) {
      finish(*task);
      if (task.get() != until) {
        task->cpu_queue_->push(NodeTask());
      }
    }
  }
}

void Engine::run_node(GraphTask& task, NodeState& state) {
  if (task.has_error()) {
    return;
  }
  try {
    const NodeScope scope(task, *state.node);
    evaluate_function(task, state);
  } catch (...) {
    task.set_exception(std::current_exception(), state.node);
  }
}

// With all that it calls here, as a node costs little else.
__attribute__((flatten)) void Engine::evaluate_function(GraphTask& task, NodeState& state) {
  Node& fn = *state.node;
  std::optional<c10::Stream> stream;
  if (!task.on_cpu_only_) {
    stream = fn.stream();
  }
  const c10::OptionalDeviceGuard device_guard(stream ? std::optional<c10::Device>(stream->device()) : std::nullopt);
  const c10::OptionalStreamGuard stream_guard(stream);

  variable_list inputs = InputBuffer::variables(std::move(state.inputs));
  if (task.has_exec_info_) {
    if (!state.needed && fn.has_hooks()) {
      inputs = call_tensor_pre_hooks(fn, std::move(inputs));
    }
    if (state.captures) {
      const auto lock = task.lock_if_shared();
      for (const NodeState::Capture& capture : *state.captures) {
        task.captured_vars_[static_cast<size_t>(capture.output_idx)] = inputs[static_cast<size_t>(capture.input_idx)];
      }
      if (stream) {
        task.leaf_streams_.push_back(*stream);
      }
    }
    if (!state.needed) {
      return;
    }
  }

  variable_list outputs = C10_UNLIKELY(at::impl::has_active_callbacks())
      ? call_observed_function(task, fn, std::move(inputs))
      : call_function(task, fn, std::move(inputs));
  if (!task.keep_graph_) {
    fn.release_variables();
  }
  // Here, so that a gradient passed on unchanged has no second owner when it is added to.
  inputs.clear();
  if (task.on_one_thread_) {
    task.spare_list_.swap(inputs);
  }
  if (outputs.empty()) {
    if (stream) {
      const auto lock = task.lock_if_shared();
      task.leaf_streams_.push_back(*stream);
    }
    return;
  }
  if (C10_UNLIKELY(AnomalyMode::is_enabled() && AnomalyMode::should_check_nan())) {
    check_no_nan(fn, outputs);
  }
  deliver(task, fn, outputs);
}

void Engine::deliver(GraphTask& task, Node& fn, variable_list& outputs) {
  std::optional<c10::Stream> stream;
  if (!task.on_cpu_only_) {
    stream = fn.stream();
  }
  const auto lock = task.lock_if_shared();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Edge& edge = fn.next_edge(i);
    if (!edge.is_valid()) {
      continue;
    }
    Node& next = *edge.function;
    NodeState* state = task.nodes_.find(&next);
    TORCH_CHECK(state != nullptr && state->dependencies != 0, "dependency not found for ", next.name());
    const bool is_ready = --state->dependencies == 0;
    if (task.has_exec_info_ && !state->should_execute()) {
      continue;
    }
    if (!state->started) {
      state->started = true;
      if (task.on_one_thread_) {
        task.spare_list_.resize(next.num_inputs());
        state->inputs = InputBuffer(std::move(task.spare_list_));
        task.spare_list_.clear();
      } else {
        state->inputs = InputBuffer(next.num_inputs());
      }
      ++task.waiting_nodes_;
    }
    if (task.on_cpu_only_) {
      state->inputs.add(edge.input_nr, std::move(outputs[i]));
    } else {
      state->inputs.add(edge.input_nr, std::move(outputs[i]), stream, next.stream());
    }
    if (is_ready) {
      --task.waiting_nodes_;
      enqueue(task, *state);
    }
  }
}

void Engine::enqueue(GraphTask& task, NodeState& state) {
  const NodeTask item{&task, &state, state.node->sequence_nr(), task.reentrant_depth_};
  if (task.on_one_thread_) {
    task.local_queue_.push(item);
    return;
  }
  task.outstanding_tasks_.fetch_add(1, std::memory_order_relaxed);
  const c10::Device device = state.node->device();
  if (device.is_cpu() || device.is_meta()) {
    task.cpu_queue_->push(item);
  } else {
    device_queue(std::max<c10::DeviceIndex>(device.index(), 0))->push(item);
  }
}

} // namespace torch::autograd
