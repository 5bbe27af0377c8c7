// A loss scaler whose ranks see different parts of the gradients.
#include <csrc/distributed/fsdp/sharded_grad_scaler.h>

#include <aten/Functions.h>
#include <c10/core/GradMode.h>
#include <csrc/distributed/session/collectives.h>

#include <algorithm>
#include <limits>

namespace torch::distributed {

ShardedGradScaler::ShardedGradScaler(amp::GradScalerOptions options, GroupPtr group)
    : GradScaler(std::move(options)), group_(group ? std::move(group) : default_group()) {}

// What one rank has found is put into the gradients of all, which are about to be dropped.
void ShardedGradScaler::agree(optim::Optimizer& optimizer) {
  const c10::NoGradGuard no_grad;
  at::Tensor any;
  at::Tensor found;
  for (const auto& group : optimizer.param_groups()) {
    for (const auto& param : group.params()) {
      const auto& grad = param.grad();
      if (grad.defined() && grad.numel() > 0) {
        any = any.defined() ? any : grad;
        const auto bad = at::isfinite(grad).all().logical_not().to(at::kFloat);
        found = found.defined() ? at::maximum(found, bad.to(found.device())) : bad;
      }
    }
  }
  if (!found.defined()) {
    found = at::zeros({}, at::kFloat);
  }
  found = found.reshape({1});
  all_reduce(found, ReduceOp::MAX, group_);
  if (any.defined() && found.item<float>() != 0) {
    any.view(-1).narrow(0, 0, 1).fill_(std::numeric_limits<double>::infinity());
  }
}

void ShardedGradScaler::unscale_(optim::Optimizer& optimizer) {
  if (!is_enabled()) {
    return;
  }
  if (std::find(unscaled_.begin(), unscaled_.end(), &optimizer) == unscaled_.end()) {
    agree(optimizer);
    unscaled_.push_back(&optimizer);
  }
  GradScaler::unscale_(optimizer);
}

bool ShardedGradScaler::step(optim::Optimizer& optimizer) {
  if (is_enabled() && std::find(unscaled_.begin(), unscaled_.end(), &optimizer) == unscaled_.end()) {
    unscale_(optimizer);
  }
  return GradScaler::step(optimizer);
}

void ShardedGradScaler::update(std::optional<double> new_scale) {
  unscaled_.clear();
  GradScaler::update(new_scale);
}

} // namespace torch::distributed
