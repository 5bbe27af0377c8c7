#include <autograd/graph_task.h>

#include <aten/observe/record_function.h>
#include <autograd/saved_variable.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::autograd {

namespace {

std::atomic<uint64_t> next_graph_task_id{0};

} // namespace

GraphTask::GraphTask(bool keep_graph, bool create_graph, const GraphTask* parent)
    : keep_graph_(keep_graph),
      outermost_(parent ? parent->outermost_ : this),
      reentrant_depth_(parent ? parent->reentrant_depth_ + 1 : 0),
      checkpointable_(!parent || parent->checkpointable_),
      saved_tensor_hooks_(impl::default_saved_tensor_hooks()),
      caller_thread_(at::RecordFunction::currentThreadId()),
      id_(next_graph_task_id.fetch_add(1, std::memory_order_relaxed)) {
  thread_locals_.set_grad_mode(create_graph);
}

void GraphTask::compute_dependencies(Node& root, uint64_t min_topo_nr) {
  nodes_.insert(&root);
  // The table lists nodes in order of insertion, so it is its own work list.
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node* fn = nodes_[i].node;
    if (!fn->device().is_cpu()) {
      on_cpu_only_ = false;
    }
    if (fn->topological_nr() < min_topo_nr) {
      continue;
    }
    for (const Edge& edge : fn->next_edges()) {
      if (Node* next = edge.function.get()) {
        ++nodes_.insert(next).dependencies;
      }
    }
  }
  on_one_thread_ = on_cpu_only_ || !c10::AutogradState::get_tls_state().get_multithreading_enabled();
  if (!on_cpu_only_) {
    stash_current_streams();
  }
}

void GraphTask::init_to_execute(const edge_list& outputs, bool accumulate_grad) {
  has_exec_info_ = true;
  checkpointable_ = false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    // An output that the pass does not reach has no state, and its result stays undefined.
    NodeState* state = nodes_.find(outputs[i].function.get());
    if (state == nullptr) {
      continue;
    }
    if (accumulate_grad) {
      state->needed = true;
    } else {
      TORCH_CHECK(
          outputs[i].input_nr < state->node->num_inputs(), "Engine::execute: output ", i, " is input ",
          outputs[i].input_nr, " of ", state->node->name(), ", which has ", state->node->num_inputs());
      if (!state->captures) {
        state->captures = std::make_unique<std::vector<NodeState::Capture>>();
      }
      state->captures->push_back({static_cast<int>(outputs[i].input_nr), static_cast<int>(i)});
    }
  }
  if (!accumulate_grad) {
    captured_vars_.resize(outputs.size());
  }

  // A node must run if a node that it feeds must. Topological numbers grow from the leaves, so in their order each node
  // comes after all that it feeds.
  std::vector<std::pair<uint64_t, uint32_t>> order;
  order.reserve(nodes_.size());
  for (size_t i = 0; i < nodes_.size(); ++i) {
    order.emplace_back(nodes_[i].node->topological_nr(), static_cast<uint32_t>(i));
  }
  std::sort(order.begin(), order.end());
  for (const auto& [topological_nr, position] : order) {
    NodeState& state = nodes_[position];
    for (const Edge& edge : state.node->next_edges()) {
      const NodeState* next = edge.is_valid() ? nodes_.find(edge.function.get()) : nullptr;
      if (next && next->should_execute()) {
        state.needed = true;
        break;
      }
    }
  }
}

void GraphTask::set_exception(std::exception_ptr error, Node* fn) {
  const auto lock = lock_if_shared();
  if (has_error()) {
    return;
  }
  if (AnomalyMode::is_enabled() && fn != nullptr) {
    fn->metadata()->print_stack(fn->name());
  }
  error_ = std::move(error);
  has_error_.store(true, std::memory_order_release);
}

bool GraphTask::has_post_processing() const {
  return waiting_nodes_ != 0 || !leaf_streams_.empty() || !final_callbacks_.empty();
}

void GraphTask::run_post_processing() {
  TORCH_CHECK(waiting_nodes_ == 0, "could not compute gradients for some functions");
  for (const c10::Stream& leaf : leaf_streams_) {
    for (const c10::Stream& caller : caller_streams_) {
      if (caller.device() == leaf.device() && caller != leaf) {
        c10::Event event(leaf.device_type());
        event.record(leaf);
        caller.wait(event);
      }
    }
  }
  // A callback may queue further callbacks.
  std::unique_lock<std::mutex> lock(final_callbacks_lock_);
  for (size_t i = 0; i < final_callbacks_.size(); ++i) {
    const std::function<void()> callback = std::move(final_callbacks_[i]);
    lock.unlock();
    callback();
    lock.lock();
  }
}

void GraphTask::run_at_end() {
  for (const std::function<void()>& clean_up : at_end_) {
    clean_up();
  }
}

void GraphTask::finish() {
  // No node of the pass runs any more, so nobody adds to the lists.
  if (!has_error() && has_post_processing()) {
    try {
      const at::ThreadLocalStateGuard tls(thread_locals_);
      run_post_processing();
    } catch (...) {
      set_exception(std::current_exception(), nullptr);
    }
  }
  run_at_end();
  // Who waits may end the pass, and with it this object, as soon as the lock is free.
  const std::lock_guard<std::mutex> lock(mutex_);
  completed_.store(true, std::memory_order_release);
  done_.notify_all();
}

void GraphTask::wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  done_.wait(lock, [this] { return completed(); });
}

variable_list GraphTask::take_results() {
  if (has_error()) {
    std::rethrow_exception(error_);
  }
  return std::move(captured_vars_);
}

void GraphTask::stash_current_streams() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const std::optional<c10::Stream> stream = nodes_[i].node->stream();
    if (!stream) {
      continue;
    }
    const c10::Device device = stream->device();
    const bool known = std::any_of(
        caller_streams_.begin(), caller_streams_.end(), [&](const c10::Stream& s) { return s.device() == device; });
    if (!known) {
      caller_streams_.push_back(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
    }
  }
}

} // namespace torch::autograd
