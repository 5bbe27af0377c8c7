// RAdam: Adam with a rectified step size (Liu et al. 2019).
#pragma once

#include <csrc/optim/optimizer.h>

#include <tuple>
#include <vector>

namespace torch::optim {

struct TORCH_API RAdamOptions : public detail::BuiltinOptions<RAdamOptions> {
  RAdamOptions(double lr = 1e-3);
  TORCH_ARG(double, lr) = 1e-3;
  typedef std::tuple<double, double> betas_t;
  TORCH_INDIRECT_ARG(betas_t, betas);  // 0.9 and 0.999
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(bool, decoupled_weight_decay) = false;
  /// Climbs instead of descending.
  TORCH_ARG(bool, maximize) = false;
  /// One kernel for all parameters (the default on a CPU), or operator by operator.
  TORCH_ARG(std::optional<bool>, fused) = std::nullopt;
};

struct TORCH_API RAdamParamState : public detail::BuiltinParamState<RAdamParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(torch::Tensor, exp_avg);
  TORCH_ARG(torch::Tensor, exp_avg_sq);
};

class TORCH_API RAdam : public Optimizer {
 public:
  explicit RAdam(const std::vector<OptimizerParamGroup>& param_groups, RAdamOptions defaults = {});
  explicit RAdam(std::vector<Tensor> params, RAdamOptions defaults = {});

  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

} // namespace torch::optim
