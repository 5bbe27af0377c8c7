// What stages of a pipeline tell one another.
#pragma once

#include <csrc/distributed/session/init.h>

#include <map>
#include <vector>

namespace torch::distributed::pipelining {

/// Numbers as a tensor of their own.
at::Tensor numbers(const std::vector<int64_t>& values, at::Device device);

/// Lists of tensors between ranks, over point-to-point calls. Sizes, dtypes and which tensors require gradients may
/// change from one list to the next: a list is announced by what it is like, or by zero where it is like the last one.
class StageMessages {
 public:
  /// `device` is where messages about lists lie.
  StageMessages(GroupPtr group, at::Device device) : group_(std::move(group)), device_(device) {}

  /// Does not wait. Undefined tensors are announced as such.
  void send(const std::vector<at::Tensor>& tensors, int to, int tag);
  /// Waits for the list. Tensors require gradients where those that were sent did.
  std::vector<at::Tensor> receive(int from, int tag);
  /// Waits until what was sent has gone.
  void flush();

 private:
  using Likeness = std::vector<int64_t>;
  static Likeness likeness_of(const std::vector<at::Tensor>& tensors);
  static std::vector<at::Tensor> tensors_like(const Likeness& likeness, at::Device device);
  void send_one(const at::Tensor& tensor, int to, int tag);
  void receive_one(const at::Tensor& tensor, int from, int tag);

  GroupPtr group_;
  at::Device device_;
  std::map<std::pair<int, int>, Likeness> sent_; // by rank and tag
  std::map<std::pair<int, int>, Likeness> received_;
  std::vector<c10::intrusive_ptr<c10d::Work>> under_way_;
};

} // namespace torch::distributed::pipelining
