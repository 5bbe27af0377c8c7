// RMSprop (Hinton, lecture 6), centered as in Graves 2013.
#pragma once

#include <csrc/optim/optimizer.h>

#include <vector>

namespace torch::optim {

/// Options of RMSprop.
struct TORCH_API RMSpropOptions : public detail::BuiltinOptions<RMSpropOptions> {
  RMSpropOptions(double lr = 1e-2);
  /// The learning rate. Throws if negative.
  TORCH_ARG(double, lr) = 1e-2;
  /// Decay of the averages. Throws if negative.
  TORCH_ARG(double, alpha) = 0.99;
  /// Added to the denominator. Throws if negative.
  TORCH_ARG(double, eps) = 1e-8;
  /// Factor of a penalty on squared parameters: weight_decay * param is added to the gradient. Throws if negative.
  TORCH_ARG(double, weight_decay) = 0;
  /// Factor of the previous update that is added. Throws if negative.
  TORCH_ARG(double, momentum) = 0;
  /// Divides by the standard deviation: the square of the average gradient is subtracted.
  TORCH_ARG(bool, centered) = false;
  /// Climbs instead of descending.
  TORCH_ARG(bool, maximize) = false;
  /// One kernel for all parameters (the default on a CPU), or operator by operator.
  TORCH_ARG(std::optional<bool>, fused) = std::nullopt;
};

/// What RMSprop keeps of a parameter.
struct TORCH_API RMSpropParamState : public detail::BuiltinParamState<RMSpropParamState> {
  /// Steps taken.
  TORCH_ARG(int64_t, step) = 0;
  /// Running average of squared gradients.
  TORCH_ARG(torch::Tensor, square_avg);
  /// The previous update; undefined without momentum.
  TORCH_ARG(torch::Tensor, momentum_buffer);
  /// Running average of gradients; undefined unless centered.
  TORCH_ARG(torch::Tensor, grad_avg);
};

/// RMSprop: param -= lr * grad / (sqrt(average of grad^2) + eps), with momentum if given.
class TORCH_API RMSprop : public Optimizer {
 public:
  /// `defaults` hold for groups without options of their own. Throws ValueError if one of lr, eps, momentum,
  /// weight_decay and alpha is negative.
  explicit RMSprop(const std::vector<OptimizerParamGroup>& param_groups, RMSpropOptions defaults = {});
  explicit RMSprop(std::vector<Tensor> params, RMSpropOptions defaults = {});

  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

} // namespace torch::optim
