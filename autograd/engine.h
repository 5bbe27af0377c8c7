#pragma once

#include <autograd/anomaly_mode.h>
#include <autograd/function.h>
#include <autograd/function_hook.h>
#include <c10/core/Device.h>
#include <c10/macros/Export.h>

#include <array>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <string>
#include <type_traits>
#include <vector>

namespace torch::autograd {

class ReadyQueue;
struct GraphTask;
struct NodeState;

/// How many backward passes may run in nodes of each other on one thread before the next one moves to a fresh stack.
constexpr int MAX_DEPTH = 60;

/// Makes gradients fit the edges they flow along: sums over broadcast dimensions, converts dtype, moves 0-dim tensors
/// to the right device. Throws, with the text passed through `format_error`, where they do not fit.
TORCH_API void validate_outputs(
    const edge_list& edges, variable_list& grads, const std::function<std::string(const std::string&)>& format_error);

/// Runs backward passes; docs/design/autograd.md tells how.
///
/// Nodes on the CPU run on the thread that asked for the pass. Nodes on another device run on a thread of that device
/// index, made on first use. A pass may start further passes (from hooks or custom functions), and any number of
/// threads may run passes, also over the same graph.
struct TORCH_API Engine {
  static Engine& get_default_engine();

  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine();

  /// Sends `inputs` along the edges `roots`. Without `outputs` every reachable accumulator gets its gradient; with them
  /// only what they need runs, and the result has one gradient for each, undefined where none arrived. With
  /// `accumulate_grad` the outputs are accumulators, and the result is empty. `create_graph` records the pass itself.
  /// Throws what a node or hook threw.
  virtual variable_list execute(
      const edge_list& roots,
      const variable_list& inputs,
      bool keep_graph,
      bool create_graph,
      bool accumulate_grad,
      const edge_list& outputs = {});

  /// The same for edges in a std::vector, which is what `edge_list` is in libtorch.
  template <class Edges, std::enable_if_t<std::is_same_v<Edges, std::vector<Edge>>, int> = 0>
  variable_list execute(
      const Edges& roots,
      const variable_list& inputs,
      bool keep_graph,
      bool create_graph,
      bool accumulate_grad,
      const std::vector<Edge>& outputs = {}) {
    return execute(
        edge_list(roots.begin(), roots.end()), inputs, keep_graph, create_graph, accumulate_grad,
        edge_list(outputs.begin(), outputs.end()));
  }

  /// Has `callback` run at the end of the pass that this thread is in. Throws outside of one.
  void queue_callback(std::function<void()> callback);

  /// Whether a checkpoint may recompute in the pass that this thread is in.
  bool is_checkpoint_valid();

  virtual std::unique_ptr<AnomalyMetadata> make_anomaly_metadata() {
    return std::make_unique<AnomalyMetadata>();
  }

 protected:
  Engine();

 private:
  /// A pass that waits for a thread with a fresh stack, and the queue of the thread that handed it over.
  struct WaitingPass {
    std::shared_ptr<GraphTask> task;
    NodeState* root = nullptr;
    std::shared_ptr<ReadyQueue> queue;
  };

  void run_pass(GraphTask& task, NodeState& root);
  void drain(GraphTask& task, NodeState& root);
  void run_on_one_thread(GraphTask& task);
  void work_on(ReadyQueue& queue, const GraphTask* until);
  void run_node(GraphTask& task, NodeState& state);
  void evaluate_function(GraphTask& task, NodeState& state);
  void deliver(GraphTask& task, Node& fn, variable_list& outputs);
  void enqueue(GraphTask& task, NodeState& state);

  std::shared_ptr<ReadyQueue> device_queue(c10::DeviceIndex index);
  void device_thread(const std::shared_ptr<ReadyQueue>& queue);
  void run_on_fresh_stack(GraphTask& task, NodeState& root);
  void fresh_stack_thread();

  std::array<std::shared_ptr<ReadyQueue>, 128> device_queues_;
  std::mutex device_queues_mutex_;

  std::mutex fresh_stacks_mutex_;
  std::condition_variable fresh_stacks_work_;
  std::queue<WaitingPass> fresh_stacks_passes_;
  size_t idle_fresh_stacks_ = 0;
  /// Passes that will be queued as soon as there is a thread for them.
  size_t promised_passes_ = 0;
};

/// Whether the backward pass that this thread is in needs the gradients that go to `next`. True outside of a pass.
bool current_task_needs(const Node* next);

/// Whether the backward pass that this thread is in reaches `node` and wants a gradient from it or through it. False
/// outside of a pass.
bool current_pass_runs(const Node* node);

/// While it lives, this thread's nodes compute all their outputs, whatever the backward pass wants. For nodes that run
/// another node which is not part of the pass.
class ComputeAllOutputsGuard {
 public:
  ComputeAllOutputsGuard();
  ComputeAllOutputsGuard(const ComputeAllOutputsGuard&) = delete;
  ComputeAllOutputsGuard& operator=(const ComputeAllOutputsGuard&) = delete;
  ~ComputeAllOutputsGuard();

 private:
  bool previous_;
};

} // namespace torch::autograd
