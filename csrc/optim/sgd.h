// Stochastic gradient descent with momentum (Sutskever et al. 2013 for Nesterov's).
#pragma once

#include <csrc/optim/optimizer.h>

#include <vector>

namespace torch::optim {

/// Options of SGD. The learning rate has no default.
struct TORCH_API SGDOptions : public detail::BuiltinOptions<SGDOptions> {
  SGDOptions(double lr);
  /// The learning rate. Throws if negative.
  TORCH_ARG(double, lr);
  /// Factor of the previous update. Throws if negative.
  TORCH_ARG(double, momentum) = 0;
  /// The share of the gradient that the update with momentum leaves out; the first update takes all of it.
  TORCH_ARG(double, dampening) = 0;
  /// Factor of a penalty on squared parameters: weight_decay * param is added to the gradient. Throws if negative.
  TORCH_ARG(double, weight_decay) = 0;
  /// Steps by grad + momentum * buf. Throws without momentum or with dampening.
  TORCH_ARG(bool, nesterov) = false;
  /// Climbs instead of descending.
  TORCH_ARG(bool, maximize) = false;
  /// One kernel for all parameters (the default on a CPU), or operator by operator.
  TORCH_ARG(std::optional<bool>, fused) = std::nullopt;
};

/// What SGD keeps of a parameter.
struct TORCH_API SGDParamState : public detail::BuiltinParamState<SGDParamState> {
  /// The previous update; undefined without momentum.
  TORCH_ARG(torch::Tensor, momentum_buffer);
};

/// Stochastic gradient descent: buf = momentum * buf + (1 - dampening) * grad, param -= lr * buf (Sutskever et al.,
/// 2013). Takes sparse gradients, without momentum.
class TORCH_API SGD : public Optimizer {
 public:
  /// `defaults` hold for groups without options of their own. Throws ValueError if one of lr, momentum and weight_decay
  /// is negative, and for nesterov without momentum or with dampening.
  explicit SGD(const std::vector<OptimizerParamGroup>& param_groups, SGDOptions defaults);
  explicit SGD(std::vector<Tensor> params, SGDOptions defaults);

  Tensor step(LossClosure closure = nullptr) override;

 protected:
  bool supports_found_inf() const override;
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

} // namespace torch::optim
