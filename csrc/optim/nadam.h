// NAdam: Adam with Nesterov momentum (Dozat 2016).
#pragma once

#include <csrc/optim/optimizer.h>

#include <tuple>
#include <vector>

namespace torch::optim {

struct TORCH_API NAdamOptions : public detail::BuiltinOptions<NAdamOptions> {
  NAdamOptions(double lr = 2e-3);
  TORCH_ARG(double, lr) = 2e-3;
  typedef std::tuple<double, double> betas_t;
  TORCH_INDIRECT_ARG(betas_t, betas);  // 0.9 and 0.999
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(double, momentum_decay) = 4e-3;
  TORCH_ARG(bool, decoupled_weight_decay) = false;
  /// Climbs instead of descending.
  TORCH_ARG(bool, maximize) = false;
  /// One kernel for all parameters (the default on a CPU), or operator by operator.
  TORCH_ARG(std::optional<bool>, fused) = std::nullopt;
};

struct TORCH_API NAdamParamState : public detail::BuiltinParamState<NAdamParamState> {
  TORCH_ARG(int64_t, step) = 0;
  /// Product of the momenta of all steps.
  TORCH_ARG(double, mu_product) = 1;
  TORCH_ARG(torch::Tensor, exp_avg);
  TORCH_ARG(torch::Tensor, exp_avg_sq);
};

class TORCH_API NAdam : public Optimizer {
 public:
  explicit NAdam(const std::vector<OptimizerParamGroup>& param_groups, NAdamOptions defaults = {});
  explicit NAdam(std::vector<Tensor> params, NAdamOptions defaults = {});

  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

} // namespace torch::optim
