// Averages gradients over ranks while a backward pass makes them.
#pragma once

#include <autograd/graph.h>
#include <csrc/distributed/ddp/comm.h>

#include <atomic>
#include <memory>

namespace torch::distributed {

/// What a GradientReducer is made with.
struct ReducerOptions {
  c10::intrusive_ptr<c10d::ProcessGroup> group;
  int64_t bucket_bytes = int64_t(25) << 20;
  int64_t first_bucket_bytes = int64_t(1) << 20;
  bool find_unused_parameters = false;
};

/// Gradients live in buckets, the parameters of the last layers first. When all of a bucket's are there, its reduction
/// begins while the pass goes on; it is over when the pass returns.
///
/// Which parameters a pass uses, it tells itself: others count as zero at once. So a graph may differ from rank to rank
/// and from step to step, as long as each rank's pass reaches at least one parameter.
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
  size_t bucket_count() const {
    return buckets_.size();
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
    at::Tensor flat;
    size_t missing = 0;
    c10::intrusive_ptr<c10d::Work> work;
    c10::intrusive_ptr<c10::ivalue::Future> future;
  };
  struct Place {
    size_t bucket;
    at::Tensor view;
  };

  void verify(const std::vector<std::string>& names) const;
  void make_buckets();
  void on_gradient(size_t parameter);
  void begin_pass(int64_t pass);
  void gather(size_t parameter);
  void ready(size_t parameter);
  void launch(Bucket& bucket, size_t index);
  void finish_pass();
  void forget_pass() noexcept;

  std::vector<at::Tensor> parameters_;
  std::vector<Place> places_;
  std::vector<Bucket> buckets_;
  ReducerOptions options_;
  Hook hook_;
  std::vector<autograd::graph::RemovableHandle> handles_;
  bool sync_ = true;
  int64_t pass_ = -1;
  size_t next_bucket_ = 0;
  std::vector<bool> used_;
  double communication_seconds_ = 0;
  double waiting_seconds_ = 0;
};

} // namespace torch::distributed
