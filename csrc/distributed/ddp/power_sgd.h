// PowerSGD: gradients sent as products of thin matrices (Vogels et al., arXiv 1905.13727).
#pragma once

#include <csrc/arg.h>
#include <csrc/distributed/ddp/comm.h>

#include <random>
#include <unordered_map>
#include <vector>

namespace torch::distributed {

/// Arguments of PowerSGDHook, with PyTorch's names and defaults.
struct PowerSGDOptions {
  /// Columns of the thin matrices: more are closer to the gradient and cost more.
  TORCH_ARG(int64_t, matrix_approximation_rank) = 1;
  /// Steps that are averaged as without the hook.
  TORCH_ARG(int64_t, start_powerSGD_iter) = 1000;
  /// A gradient is sent whole unless this many times fewer numbers are sent.
  TORCH_ARG(double, min_compression_rate) = 2;
  /// What a step leaves out is added to the gradient of the next.
  TORCH_ARG(bool, use_error_feedback) = true;
  /// Each step begins with the last one's matrix, not with a random one.
  TORCH_ARG(bool, warm_start) = true;
  /// Added to the length of columns, which may be zero.
  TORCH_ARG(double, orthogonalization_epsilon) = 0;
  TORCH_ARG(uint32_t, random_seed) = 0;
  /// Matrices of one shape are multiplied together.
  TORCH_ARG(bool, batch_tensors_with_same_shape) = false;
};

/// For a gradient M of n rows and m columns: P = MQ is summed over ranks and made orthogonal, Q = M'P is averaged, and
/// PQ' is the result. Gradients of one dimension are sent whole. All ranks have the same options; what the hook
/// remembers is their own.
class TORCH_API PowerSGDHook : public c10d::CppCommHookInterface<c10::intrusive_ptr<c10d::ProcessGroup>> {
 public:
  explicit PowerSGDHook(const c10::intrusive_ptr<c10d::ProcessGroup>& group, PowerSGDOptions options = {});
  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override;

  /// Steps so far.
  int64_t iteration() const {
    return iteration_;
  }
  /// Numbers in gradients, per number that was sent. 0 before the first step that compresses.
  double compression_rate() const {
    return sent_ > 0 ? static_cast<double>(numbers_) / static_cast<double>(sent_) : 0;
  }

 private:
  struct Group { // matrices of one shape
    std::vector<at::Tensor> parts;
    at::Tensor matrices, p, q;
  };

  std::vector<Group> group_by_shape(const std::vector<at::Tensor>& matrices) const;
  bool lay_out(size_t bucket, std::vector<Group>& groups, const at::Tensor& like);
  void begin_q(std::vector<Group>& groups, bool is_warm);
  void average_whole(const std::vector<at::Tensor>& tensors);
  void average_compressed(size_t bucket, std::vector<Group>& groups);
  void sum(const at::Tensor& tensor);

  PowerSGDOptions options_;
  std::mt19937 random_;
  int64_t iteration_ = 0;
  int64_t numbers_ = 0;
  int64_t sent_ = 0;
  std::unordered_map<size_t, at::Tensor> errors_, ps_, qs_; // by bucket
};

} // namespace torch::distributed
