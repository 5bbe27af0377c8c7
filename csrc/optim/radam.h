// RAdam: Adam with a rectified step size (Liu et al. 2019).
#pragma once

#include <csrc/optim/optimizer.h>

#include <tuple>
#include <vector>

namespace torch::optim {

/// Options of RAdam.
struct TORCH_API RAdamOptions : public detail::BuiltinOptions<RAdamOptions> {
  RAdamOptions(double lr = 1e-3);
  /// The learning rate. Throws if negative.
  TORCH_ARG(double, lr) = 1e-3;
  typedef std::tuple<double, double> betas_t;
  /// Decay of the averages of gradients and of their squares. Throws outside of [0, 1).
  TORCH_INDIRECT_ARG(betas_t, betas); // 0.9 and 0.999
  /// Added to the denominator. Throws if negative.
  TORCH_ARG(double, eps) = 1e-8;
  /// Factor of a penalty on squared parameters: weight_decay * param is added to the gradient. Throws if negative.
  TORCH_ARG(double, weight_decay) = 0;
  /// Shrinks parameters by lr * weight_decay instead, as AdamW does.
  TORCH_ARG(bool, decoupled_weight_decay) = false;
  /// Climbs instead of descending.
  TORCH_ARG(bool, maximize) = false;
  /// One kernel for all parameters (the default on a CPU), or operator by operator.
  TORCH_ARG(std::optional<bool>, fused) = std::nullopt;
};

/// What RAdam keeps of a parameter.
struct TORCH_API RAdamParamState : public detail::BuiltinParamState<RAdamParamState> {
  /// Steps taken.
  TORCH_ARG(int64_t, step) = 0;
  /// Running average of gradients.
  TORCH_ARG(torch::Tensor, exp_avg);
  /// Running average of squared gradients.
  TORCH_ARG(torch::Tensor, exp_avg_sq);
};

/// Adam that steps like SGD with momentum while there are too few squares for a stable denominator.
class TORCH_API RAdam : public Optimizer {
 public:
  /// `defaults` hold for groups without options of their own. Throws ValueError if one of lr, eps and weight_decay is
  /// negative or betas are not in [0, 1).
  explicit RAdam(const std::vector<OptimizerParamGroup>& param_groups, RAdamOptions defaults = {});
  explicit RAdam(std::vector<Tensor> params, RAdamOptions defaults = {});

  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

} // namespace torch::optim
