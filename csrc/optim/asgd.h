// Averaged SGD (Polyak and Juditsky 1992).
#pragma once

#include <csrc/optim/optimizer.h>

#include <vector>

namespace torch::optim {

struct TORCH_API ASGDOptions : public detail::BuiltinOptions<ASGDOptions> {
  ASGDOptions(double lr = 1e-2);
  TORCH_ARG(double, lr) = 1e-2;
  TORCH_ARG(double, lambd) = 1e-4;
  TORCH_ARG(double, alpha) = 0.75;
  /// The step at which averaging begins.
  TORCH_ARG(double, t0) = 1e6;
  TORCH_ARG(double, weight_decay) = 0;
  /// Climbs instead of descending.
  TORCH_ARG(bool, maximize) = false;
  /// One kernel for all parameters (the default on a CPU), or operator by operator.
  TORCH_ARG(std::optional<bool>, fused) = std::nullopt;
};

struct TORCH_API ASGDParamState : public detail::BuiltinParamState<ASGDParamState> {
  TORCH_ARG(int64_t, step) = 0;
  /// Step size and averaging weight of the next step.
  TORCH_ARG(double, eta) = 0;
  TORCH_ARG(double, mu) = 1;
  TORCH_ARG(torch::Tensor, ax);
};

class TORCH_API ASGD : public Optimizer {
 public:
  explicit ASGD(const std::vector<OptimizerParamGroup>& param_groups, ASGDOptions defaults = {});
  explicit ASGD(std::vector<Tensor> params, ASGDOptions defaults = {});

  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

} // namespace torch::optim
