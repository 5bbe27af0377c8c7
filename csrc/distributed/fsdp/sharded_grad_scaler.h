// A loss scaler whose ranks see different parts of the gradients.
#pragma once

#include <csrc/amp/grad_scaler.h>
#include <csrc/distributed/session/init.h>

#include <vector>

namespace torch::distributed {

/// As amp::GradScaler; a gradient that is not finite on any rank has all skip the step. For fully_shard, whose ranks
/// have a shard each. Under DistributedDataParallel gradients are the same on all ranks, and so is what a GradScaler
/// finds.
class TORCH_API ShardedGradScaler : public amp::GradScaler {
 public:
  explicit ShardedGradScaler(amp::GradScalerOptions options = {}, GroupPtr group = {});
  void unscale_(optim::Optimizer& optimizer);
  bool step(optim::Optimizer& optimizer);
  void update(std::optional<double> new_scale = std::nullopt);

 private:
  void agree(optim::Optimizer& optimizer);

  GroupPtr group_;
  std::vector<const optim::Optimizer*> unscaled_;
};

} // namespace torch::distributed
