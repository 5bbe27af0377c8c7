#pragma once

#include <aten/parallel/ThreadLocalState.h>
#include <autograd/forward/levels.h>
#include <autograd/function.h>
#include <autograd/node_table.h>
#include <autograd/ready_queue.h>
#include <autograd/saved_variable_hooks.h>
#include <c10/core/Stream.h>
#include <c10/macros/Export.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace torch::autograd {

/// One backward pass: what it wants, how far it is, and how it ended.
struct GraphTask : public std::enable_shared_from_this<GraphTask> {
  GraphTask(bool keep_graph, bool create_graph, const GraphTask* parent);
  GraphTask(const GraphTask&) = delete;
  GraphTask& operator=(const GraphTask&) = delete;

  // ---- preparation, on the calling thread ------------------------------------------------------------------------
  /// Finds all nodes below `root` and counts the edges to each. Does not look below nodes with a topological number
  /// under `min_topo_nr`.
  void compute_dependencies(Node& root, uint64_t min_topo_nr);

  /// Restricts the pass to what `outputs` need. Their gradients become the results, or with `accumulate_grad` flow into
  /// the accumulators that they are.
  void init_to_execute(const edge_list& outputs, bool accumulate_grad);

  // ---- the run ---------------------------------------------------------------------------------------------------
  bool has_error() const {
    return has_error_.load(std::memory_order_acquire);
  }
  /// Keeps the first error; the pass then only clears up.
  void set_exception(std::exception_ptr error, Node* fn);
  bool completed() const {
    return completed_.load(std::memory_order_acquire);
  }
  /// Joins streams and runs the final callbacks unless there was an error, then runs what queue_final_callback() was
  /// given, and lets wait() return.
  void finish();
  /// Returns when another thread has finished the pass.
  void wait();
  /// The gradients that were asked for. Throws the error of the pass.
  variable_list take_results();
  /// Counts a node task as done; true if it was the last.
  bool finish_one() {
    return outstanding_tasks_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  /// A lock where several threads work on the pass.
  std::unique_lock<std::mutex> lock_if_shared() {
    return on_one_thread_ ? std::unique_lock<std::mutex>() : std::unique_lock<std::mutex>(mutex_);
  }

  const bool keep_graph_;
  /// The pass in whose nodes this one runs, directly or through others; itself if there is none.
  GraphTask* const outermost_;
  /// Depth of the stack of backward passes that are running in nodes of each other.
  const int reentrant_depth_;
  /// Whether a checkpoint may recompute: not in a pass that wants only some gradients.
  bool checkpointable_;
  /// Whether the pass wants only some gradients, so that `needed` and `captures` of the nodes decide.
  bool has_exec_info_ = false;
  /// Whether all nodes run on the CPU, so no stream matters.
  bool on_cpu_only_ = true;
  /// Whether no other thread takes part, so no lock matters.
  bool on_one_thread_ = true;

  NodeTable nodes_;
  /// Nodes with some but not all gradients.
  size_t waiting_nodes_ = 0;
  variable_list captured_vars_;
  /// An empty list with the room of one that is done with, for the next buffer; used on one thread.
  variable_list spare_list_;
  std::mutex mutex_;

  LocalReadyQueue local_queue_;
  /// Where nodes on the CPU go when several threads take part: the queue of the thread that runs the pass.
  std::shared_ptr<ReadyQueue> cpu_queue_;
  std::atomic<uint64_t> outstanding_tasks_{0};

  /// The caller's thread-local state, with the grad mode of the pass.
  at::ThreadLocalState thread_locals_;
  const SavedVariableHooksFactory* saved_tensor_hooks_;
  const forward_ad::HiddenLevel* const hidden_levels_ = forward_ad::HiddenLevel::innermost();
  /// The caller's number in records of RecordFunction.
  const uint64_t caller_thread_;

  std::mutex final_callbacks_lock_;
  std::vector<std::function<void()>> final_callbacks_;
  /// Guarded by the same lock.
  std::vector<std::function<void()>> at_end_;

  /// Streams on which results were made, which the caller's streams must wait for.
  std::vector<c10::Stream> leaf_streams_;
  /// The caller's current stream of each device that takes part.
  std::vector<c10::Stream> caller_streams_;
  const uint64_t id_;

 private:
  void stash_current_streams();
  bool has_post_processing() const;
  void run_post_processing();
  void run_at_end();

  std::atomic<bool> has_error_{false};
  std::exception_ptr error_;
  std::atomic<bool> completed_{false};
  std::condition_variable done_;
};

/// Whether this thread's backward pass keeps the graph. False outside of one.
TORCH_API bool get_current_graph_task_keep_graph();
/// A number that no other backward pass of the process has; -1 outside of one.
TORCH_API int64_t get_current_graph_task_id();
/// The pass that this thread is in, or the outermost of those that run in nodes of each other. Null outside of one. It
/// lives as long as the node that runs.
TORCH_API GraphTask* outermost_graph_task();
/// Has `clean_up` run when the pass that this thread is in ends, with an error too; it must not throw. Throws outside
/// of a pass.
TORCH_API void queue_final_callback(std::function<void()> clean_up);

} // namespace torch::autograd
