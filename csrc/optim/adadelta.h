// Adadelta (Zeiler 2012).
#pragma once

#include <csrc/optim/optimizer.h>

#include <vector>

namespace torch::optim {

/// Options of Adadelta.
struct TORCH_API AdadeltaOptions : public detail::BuiltinOptions<AdadeltaOptions> {
  AdadeltaOptions(double lr = 1.0);
  /// The learning rate. Throws if negative.
  TORCH_ARG(double, lr) = 1.0;
  /// Decay of both averages. Throws outside of [0, 1].
  TORCH_ARG(double, rho) = 0.9;
  /// Added to the denominator. Throws if negative.
  TORCH_ARG(double, eps) = 1e-6;
  /// Factor of a penalty on squared parameters: weight_decay * param is added to the gradient. Throws if negative.
  TORCH_ARG(double, weight_decay) = 0;
  /// Climbs instead of descending.
  TORCH_ARG(bool, maximize) = false;
  /// One kernel for all parameters (the default on a CPU), or operator by operator.
  TORCH_ARG(std::optional<bool>, fused) = std::nullopt;
};

/// What Adadelta keeps of a parameter.
struct TORCH_API AdadeltaParamState : public detail::BuiltinParamState<AdadeltaParamState> {
  /// Steps taken.
  TORCH_ARG(int64_t, step) = 0;
  /// Running average of squared gradients.
  TORCH_ARG(torch::Tensor, square_avg);
  /// Running average of squared updates.
  TORCH_ARG(torch::Tensor, acc_delta);
};

/// Adadelta: step sizes from running averages of squared gradients and squared updates, so that lr matters little.
class TORCH_API Adadelta : public Optimizer {
 public:
  /// `defaults` hold for groups without options of their own. Throws ValueError if one of lr, eps and weight_decay is
  /// negative or rho is not in [0, 1].
  explicit Adadelta(const std::vector<OptimizerParamGroup>& param_groups, AdadeltaOptions defaults = {});
  explicit Adadelta(std::vector<Tensor> params, AdadeltaOptions defaults = {});

  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

} // namespace torch::optim
