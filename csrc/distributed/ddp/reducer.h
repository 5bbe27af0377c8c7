// c10d::Reducer: averages gradients as libtorch's does, over torch::distributed::GradientReducer.
#pragma once

#include <csrc/distributed/ddp/gradient_reducer.h>

#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace c10d {

constexpr int kDefaultFirstBucketBytes = 1024 * 1024;
constexpr int kDefaultBucketBytesCap = 25 * 1024 * 1024;
constexpr int kDDPRuntimeLoggingSampleRate = 100;

class Logger;

enum class BuiltinCommHookType : uint8_t {
  ALLREDUCE = 1,
  FP16_COMPRESS = 2,
};

/// A bucket while parameters are assigned.
struct BucketAccumulator {
  std::vector<size_t> indices;
  size_t size = 0;
  size_t size_limit = 0;
};

/// A pass that prepare_for_backward has announced averages the gradients over the ranks; others leave them to this
/// rank.
///
/// Gradients are always views of buckets. Which parameters a pass uses it tells itself: the outputs need not be given,
/// and nothing has to be finished before the next pass. Buckets keep their order.
class TORCH_API Reducer {
 public:
  /// `bucket_indices`, as from compute_bucket_assignment_by_size, says which parameters are reduced together. What
  /// comes behind `param_names` is kept for programs.
  explicit Reducer(
      std::vector<at::Tensor> params,
      std::vector<std::vector<size_t>> bucket_indices,
      c10::intrusive_ptr<c10d::ProcessGroup> process_group,
      std::vector<bool> expect_sparse_gradients = {},
      int64_t bucket_bytes_cap = kDefaultBucketBytesCap,
      bool find_unused_parameters = false,
      bool gradient_as_bucket_view = true,
      std::unordered_map<size_t, std::string> param_names = {},
      int64_t first_bucket_bytes_cap = kDefaultFirstBucketBytes,
      bool skip_all_reduce_unused_params = false,
      bool use_python_reducer = false,
      std::vector<int64_t> bucket_bytes_cap_list = {},
      bool batched_grad_copy = false,
      bool lazy_bucket_allocation = false);
  ~Reducer() noexcept(false);
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  /// Other buckets, before the next pass.
  void initialize_buckets(std::vector<std::vector<size_t>> bucket_indices);
  /// The next pass averages.
  void prepare_for_backward(const std::vector<at::Tensor>& outputs);
  void prepare_for_forward() {}
  /// For each parameter, the nanoseconds from the announcement of the pass to its end.
  std::vector<int64_t> get_backward_stats() const {
    return backward_stats_;
  }
  /// In place of the average; at most once.
  void register_comm_hook(std::unique_ptr<CommHookInterface> iface);
  void register_builtin_comm_hook(c10d::BuiltinCommHookType comm_hook_type);
  /// Gradients are views of buckets: there is nothing to copy after an optimizer that runs in the pass.
  void set_optimizer_in_backward() {}
  c10::intrusive_ptr<c10::ivalue::Future> run_comm_hook(GradBucket& grad_bucket);
  c10::intrusive_ptr<c10::ivalue::Future> run_allreduce_hook(GradBucket& grad_bucket);
  /// The gradients as hooks see them, or zeros of the same shapes.
  std::vector<c10d::GradBucket> get_grad_buckets(bool return_zero_tensors = true) const;
  /// Buckets keep the order they were given: never.
  bool rebuild_buckets() {
    return false;
  }
  bool should_rebuild_buckets() const {
    return false;
  }
  void push_rebuilt_params_for_all_indices() {}
  /// The end of the pass waits for these, too.
  void install_futures(const c10::List<c10::intrusive_ptr<c10::ivalue::Future>>& futs);
  /// For each parameter whether this rank has used it in the last pass.
  at::Tensor get_local_used_map_on_device() const;
  void set_ddp_runtime_logging_sample_rate(int sample_rate);
  /// Each pass uses the parameters as the first one does.
  void set_static_graph();
  void set_logger(std::weak_ptr<c10d::Logger> logger);
  bool ddp_graph_static() {
    return true;
  }
  /// Passes are followed no more.
  void remove_autograd_hooks();
  void update_process_group(c10::intrusive_ptr<c10d::ProcessGroup> new_process_group);
  /// Forgets what was announced.
  void reset_state();

 protected:
  friend class Logger;

  mutable std::mutex mutex_;
  const std::vector<at::Tensor> params_;
  c10::intrusive_ptr<::c10d::ProcessGroup> process_group_;
  std::vector<bool> expect_sparse_gradients_;
  const bool find_unused_parameters_;
  const bool gradient_as_bucket_view_;
  const int64_t bucket_bytes_cap_;
  std::unordered_map<size_t, std::string> param_names_;
  int64_t first_bucket_bytes_cap_;
  std::weak_ptr<c10d::Logger> logger_;
  long num_iterations_ = 0;
  bool static_graph_ = false;

 private:
  void build(std::vector<std::vector<size_t>> bucket_indices);
  void set_hook();
  void at_end();

  std::shared_ptr<torch::distributed::GradientReducer> core_;
  std::unique_ptr<CommHookInterface> comm_hook_;
  std::vector<c10::intrusive_ptr<c10::ivalue::Future>> installed_;
  std::vector<int64_t> backward_stats_;
  int64_t begun_ns_ = 0;
};

/// Buckets of tensors of one dtype and device, in their order: each is full when it reaches its limit, the first limit
/// for the first bucket of a kind and so on, the last for all others. Sparse ones have a bucket of their own. Also the
/// limits of the buckets. Without `tensor_indices` buckets are sorted by their first tensor.
TORCH_API std::tuple<std::vector<std::vector<size_t>>, std::vector<size_t>> compute_bucket_assignment_by_size(
    const std::vector<at::Tensor>& tensors,
    const std::vector<size_t>& bucket_size,
    const std::vector<bool>& expect_sparse_gradient = {},
    const std::vector<int64_t>& tensor_indices = {},
    const std::optional<std::weak_ptr<c10d::Logger>>& logger = {});

/// Throws on all ranks if their parameters differ.
TORCH_API void verify_params_across_processes(
    const c10::intrusive_ptr<c10d::ProcessGroup>& process_group,
    const std::vector<at::Tensor>& params,
    const std::optional<std::weak_ptr<c10d::Logger>>& logger = {});

} // namespace c10d
