// Stochastic gradient descent with momentum (Sutskever et al. 2013 for Nesterov's).
#pragma once

#include <csrc/optim/optimizer.h>

#include <vector>

namespace torch::optim {

struct TORCH_API SGDOptions : public detail::BuiltinOptions<SGDOptions> {
  SGDOptions(double lr);
  TORCH_ARG(double, lr);
  TORCH_ARG(double, momentum) = 0;
  TORCH_ARG(double, dampening) = 0;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(bool, nesterov) = false;
  /// Climbs instead of descending.
  TORCH_ARG(bool, maximize) = false;
  /// One kernel for all parameters (the default on a CPU), or operator by operator.
  TORCH_ARG(std::optional<bool>, fused) = std::nullopt;
};

struct TORCH_API SGDParamState : public detail::BuiltinParamState<SGDParamState> {
  TORCH_ARG(torch::Tensor, momentum_buffer);
};

class TORCH_API SGD : public Optimizer {
 public:
  explicit SGD(const std::vector<OptimizerParamGroup>& param_groups, SGDOptions defaults);
  explicit SGD(std::vector<Tensor> params, SGDOptions defaults);

  Tensor step(LossClosure closure = nullptr) override;

 protected:
  bool takes_found_inf() const override;
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

} // namespace torch::optim
