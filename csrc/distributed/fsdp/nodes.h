// The nodes that fully_shard puts into graphs.
#pragma once

#include <autograd/function.h>

#include <memory>
#include <vector>

namespace torch::distributed::fsdp {

class ShardedGroup;

/// The end of a graph at the whole parameters of one forward: runs when all their gradients are there.
struct ReduceGradients final : autograd::Node {
  explicit ReduceGradients(std::weak_ptr<ShardedGroup> group_) : group(std::move(group_)) {}
  std::string name() const override {
    return "FullyShardBackward";
  }
  autograd::variable_list apply(autograd::variable_list&& grads) override;

  /// Weak, because the group's whole parameters hold this. The node behind the module's results keeps it for backward.
  std::weak_ptr<ShardedGroup> group;
  std::vector<size_t> trained; // the parameters that are its inputs
};

/// Puts a node behind the tensors that require grad, which gathers the group's parameters before the module's nodes
/// run.
void tap_outputs(std::vector<at::Tensor>& outputs, const std::shared_ptr<ShardedGroup>& group);

} // namespace torch::distributed::fsdp
