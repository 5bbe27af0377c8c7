// fully_shard: parameters, gradients and optimizer state cut over ranks (FSDP2, ZeRO stage 3).
#pragma once

#include <csrc/distributed/fsdp/options.h>
#include <csrc/distributed/tensor/dtensor.h>
#include <csrc/nn/Module.h>

#include <functional>
#include <memory>
#include <vector>

namespace torch::distributed::fsdp {

class ShardedGroup;

/// What can be done with a module that fully_shard has cut. A handle: copies are of the same module, which keeps it
/// alive.
class TORCH_API FSDPModule {
 public:
  FSDPModule(nn::Module* module, std::shared_ptr<ShardedGroup> group);

  /// Makes this module's own parameters whole now, or begins to, and lets them go.
  void unshard(bool async_op = false);
  void reshard();
  /// Without it passes leave whole gradients to this rank; the next one that syncs takes them along. Of this module
  /// and, with `recurse`, of those below it, as the following.
  void set_requires_gradient_sync(bool requires_gradient_sync, bool recurse = true);
  void set_reshard_after_backward(bool reshard_after_backward, bool recurse = true);
  void set_reshard_after_forward(bool reshard_after_forward, bool recurse = true);
  /// Which modules are gathered while this one computes, in place of the next in order.
  void set_modules_to_forward_prefetch(const std::vector<FSDPModule>& modules);
  void set_modules_to_backward_prefetch(const std::vector<FSDPModule>& modules);
  /// Gives parameters and buffers that were made on the meta device memory on another one, of this module and those
  /// below it. Their values are to be set then, by initialize or a checkpoint. Before an optimizer is made.
  void to_empty(c10::Device device);
  /// Calls `function` with each module of this one's tree whose parameters were cut, one after the other whole, and
  /// keeps what rank 0 makes of them: no rank ever has more than one group whole.
  void initialize(const std::function<void(nn::Module&)>& function);
  /// The parameters that this call of fully_shard has cut.
  std::vector<DTensor> sharded_parameters() const;

 private:
  std::vector<std::pair<nn::Module*, std::shared_ptr<ShardedGroup>>> groups(bool recurse) const;

  nn::Module* module_;
  std::shared_ptr<ShardedGroup> group_;
};

/// Cuts the parameters of the module, and of those below it that no earlier call has cut, along dimension 0: each rank
/// keeps a part, which is what parameters() gives from now on and an optimizer steps. They are whole while the module's
/// forward and backward run, gathered together, ahead of time where the order is known. Gradients are averages over
/// ranks. From the inside out:
///
///   for (auto& block : blocks) { fully_shard(block); }
///   fully_shard(model);
///   loss(model(x)).backward();          // called as model(x), so that hooks run
TORCH_API FSDPModule fully_shard(const std::shared_ptr<nn::Module>& module, FullyShardOptions options = {});
template <class Holder, class = decltype(std::declval<Holder&>().ptr())>
FSDPModule fully_shard(const Holder& module, FullyShardOptions options = {}) {
  return fully_shard(std::static_pointer_cast<nn::Module>(module.ptr()), std::move(options));
}

/// The norm of all gradients over all ranks, by which they are scaled down to at most `max_norm`. Those of parameters
/// that are parts count once each.
TORCH_API at::Tensor clip_grad_norm_(
    const std::vector<at::Tensor>& parameters, double max_norm, double norm_type = 2, bool error_if_nonfinite = false);

} // namespace torch::distributed::fsdp
