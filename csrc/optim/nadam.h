// NAdam: Adam with Nesterov momentum (Dozat 2016).
#pragma once

#include <csrc/optim/optimizer.h>

#include <tuple>
#include <vector>

namespace torch::optim {

/// Options of NAdam.
struct TORCH_API NAdamOptions : public detail::BuiltinOptions<NAdamOptions> {
  NAdamOptions(double lr = 2e-3);
  /// The learning rate. Throws if negative.
  TORCH_ARG(double, lr) = 2e-3;
  typedef std::tuple<double, double> betas_t;
  /// Decay of the averages of gradients and of their squares. Throws outside of [0, 1).
  TORCH_INDIRECT_ARG(betas_t, betas); // 0.9 and 0.999
  /// Added to the denominator. Throws if negative.
  TORCH_ARG(double, eps) = 1e-8;
  /// Factor of a penalty on squared parameters: weight_decay * param is added to the gradient. Throws if negative.
  TORCH_ARG(double, weight_decay) = 0;
  /// How fast the momentum nears beta1. Throws if negative.
  TORCH_ARG(double, momentum_decay) = 4e-3;
  /// Shrinks parameters by lr * weight_decay instead, as AdamW does.
  TORCH_ARG(bool, decoupled_weight_decay) = false;
  /// Climbs instead of descending.
  TORCH_ARG(bool, maximize) = false;
  /// One kernel for all parameters (the default on a CPU), or operator by operator.
  TORCH_ARG(std::optional<bool>, fused) = std::nullopt;
};

/// What NAdam keeps of a parameter.
struct TORCH_API NAdamParamState : public detail::BuiltinParamState<NAdamParamState> {
  /// Steps taken.
  TORCH_ARG(int64_t, step) = 0;
  /// Product of the momenta of all steps.
  TORCH_ARG(double, mu_product) = 1;
  /// Running average of gradients.
  TORCH_ARG(torch::Tensor, exp_avg);
  /// Running average of squared gradients.
  TORCH_ARG(torch::Tensor, exp_avg_sq);
};

/// Adam with Nesterov momentum.
class TORCH_API NAdam : public Optimizer {
 public:
  /// `defaults` hold for groups without options of their own. Throws ValueError if one of lr, eps, weight_decay and
  /// momentum_decay is negative or betas are not in [0, 1).
  explicit NAdam(const std::vector<OptimizerParamGroup>& param_groups, NAdamOptions defaults = {});
  explicit NAdam(std::vector<Tensor> params, NAdamOptions defaults = {});

  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

} // namespace torch::optim
