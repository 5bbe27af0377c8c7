// Averages gradients over ranks while a backward pass makes them.
#pragma once

#include <autograd/graph.h>
#include <csrc/distributed/ddp/comm.h>

#include <memory>

namespace torch::autograd {
struct GraphTask;
} // namespace torch::autograd

namespace torch::distributed {

/// What a GradientReducer is made with.
struct ReducerOptions {
  c10::intrusive_ptr<c10d::ProcessGroup> group;
  int64_t bucket_bytes = int64_t(25) << 20;
  int64_t first_bucket_bytes = int64_t(1) << 20;
  bool find_unused_parameters = false;
  /// Each pass gives each parameter its gradient as often as the first one did.
  bool static_graph = false;
  /// For each parameter whether its gradients are sparse; empty: none's.
  std::vector<bool> sparse;
  /// Which parameters are reduced together; empty: by their sizes.
  std::vector<std::vector<size_t>> buckets;
};

/// Throws on all ranks, which all call it, if their parameters differ, and says where.
TORCH_API void verify_same_parameters(
    c10d::ProcessGroup& group, const std::vector<at::Tensor>& parameters, const std::vector<std::string>& names);

/// Gradients live in buckets, the parameters of the last layers first. When all of a bucket's are there, its reduction
/// begins while the pass goes on; it is over when the pass returns.
///
/// Which parameters a pass uses, it tells itself: others count as zero at once. So a graph may differ from rank to rank
/// and from step to step, as long as each rank's pass reaches at least one parameter. Passes that run within nodes of
/// another one, as those of checkpoints, belong to it; see Note [Passes within passes].
class TORCH_API GradientReducer : public std::enable_shared_from_this<GradientReducer> {
 public:
  using Hook = std::function<c10::intrusive_ptr<c10::ivalue::Future>(c10d::GradBucket& bucket)>;

  /// Throws on all ranks if their parameters differ, and says where.
  GradientReducer(std::vector<at::Tensor> parameters, std::vector<std::string> names, ReducerOptions options);
  ~GradientReducer();
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;

  /// Begins to follow backward passes.
  void attach();
  /// Follows them no more.
  void detach();
  /// Without it gradients stay this rank's.
  void set_sync(bool sync) {
    sync_ = sync;
  }
  bool sync() const {
    return sync_;
  }
  /// In place of the average: a future of the buffer, or of a tensor like it.
  void set_hook(Hook hook) {
    hook_ = std::move(hook);
  }
  /// What sums are divided by: by default the number of ranks.
  void set_divisor(int64_t divisor) {
    divisor_ = divisor;
  }
  /// Takes part in the pass of the other ranks, with gradients of zero.
  void follow_pass();
  size_t bucket_count() const {
    return buckets_.size();
  }
  /// The parameters of each bucket, and the buckets as hooks see them.
  std::vector<std::vector<size_t>> bucket_indices() const;
  std::vector<c10d::GradBucket> grad_buckets() const;
  /// Called when the averages of a pass are there.
  void set_at_end(std::function<void()> at_end) {
    at_end_ = std::move(at_end);
  }
  /// How many gradients each parameter has got in the last pass.
  const std::vector<int>& arrived() const {
    return arrived_;
  }
  /// Seconds of the last pass: in reductions, and waiting for them at its end.
  double communication_seconds() const {
    return communication_seconds_;
  }
  double waiting_seconds() const {
    return waiting_seconds_;
  }

 private:
  struct Bucket {
    std::vector<size_t> parameters;
    std::vector<size_t> offsets;
    at::Tensor flat; // none for a sparse parameter, which is alone in its bucket
    size_t missing = 0;
    c10::intrusive_ptr<c10d::Work> work;
    c10::intrusive_ptr<c10::ivalue::Future> future;
  };
  struct Place {
    size_t bucket;
    at::Tensor view;
  };
  enum class Readiness { WhenItRuns, WhenCounted, AtTheEnd };

  void group_by_size();
  void make_buckets();
  c10d::GradBucket shown(size_t index) const;
  bool is_sparse(size_t parameter) const {
    return !options_.sparse.empty() && options_.sparse[parameter];
  }
  void on_gradient(size_t parameter);
  void begin_pass(autograd::GraphTask& pass);
  void reset_buckets();
  bool contribute(size_t parameter);
  void gather(size_t parameter);
  void launch(Bucket& bucket, size_t index);
  void launch_hook(Bucket& bucket, size_t index);
  void exchange_sparse(size_t parameter);
  void end_pass();
  void take_results();
  at::Tensor used_anywhere() const;
  void forget_pass() noexcept;

  std::vector<at::Tensor> parameters_;
  std::vector<std::string> names_;
  std::vector<Place> places_;
  std::vector<Bucket> buckets_;
  ReducerOptions options_;
  Hook hook_;
  std::function<void()> at_end_;
  std::vector<autograd::graph::RemovableHandle> handles_;
  int64_t divisor_;
  bool sync_ = true;

  // The pass under way.
  int64_t pass_ = -1;
  Readiness readiness_ = Readiness::WhenItRuns;
  size_t next_bucket_ = 0;
  std::vector<int> arrived_; // gradients of each parameter
  std::vector<bool> ready_;
  std::vector<int> expected_; // of a static graph, once known
  double communication_seconds_ = 0;
  double waiting_seconds_ = 0;
};

} // namespace torch::distributed
