// Averaged SGD (Polyak and Juditsky 1992).
#pragma once

#include <csrc/optim/optimizer.h>

#include <vector>

namespace torch::optim {

/// Options of ASGD.
struct TORCH_API ASGDOptions : public detail::BuiltinOptions<ASGDOptions> {
  ASGDOptions(double lr = 1e-2);
  /// The learning rate. Throws if negative.
  TORCH_ARG(double, lr) = 1e-2;
  /// How fast the step size falls: eta = lr / (1 + lambd * lr * step)^alpha. Throws if negative.
  TORCH_ARG(double, lambd) = 1e-4;
  /// The exponent in that formula. Throws if negative.
  TORCH_ARG(double, alpha) = 0.75;
  /// The step at which averaging begins.
  TORCH_ARG(double, t0) = 1e6;
  /// Factor of a penalty on squared parameters: weight_decay * param is added to the gradient. Throws if negative.
  TORCH_ARG(double, weight_decay) = 0;
  /// Climbs instead of descending.
  TORCH_ARG(bool, maximize) = false;
  /// One kernel for all parameters (the default on a CPU), or operator by operator.
  TORCH_ARG(std::optional<bool>, fused) = std::nullopt;
};

/// What ASGD keeps of a parameter.
struct TORCH_API ASGDParamState : public detail::BuiltinParamState<ASGDParamState> {
  /// Steps taken.
  TORCH_ARG(int64_t, step) = 0;
  /// Step size of the next step.
  TORCH_ARG(double, eta) = 0;
  /// Weight of the parameters in the average at the next step.
  TORCH_ARG(double, mu) = 1;
  /// The average of the parameters.
  TORCH_ARG(torch::Tensor, ax);
};

/// SGD whose step size falls, and that averages its parameters from step t0 on; the average is the state's ax.
class TORCH_API ASGD : public Optimizer {
 public:
  /// `defaults` hold for groups without options of their own. Throws ValueError if one of lr, lambd, alpha and
  /// weight_decay is negative.
  explicit ASGD(const std::vector<OptimizerParamGroup>& param_groups, ASGDOptions defaults = {});
  explicit ASGD(std::vector<Tensor> params, ASGDOptions defaults = {});

  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

} // namespace torch::optim
