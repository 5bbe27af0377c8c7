// Adamax: Adam by the infinity norm (Kingma and Ba 2014, section 7.1).
#pragma once

#include <csrc/optim/optimizer.h>

#include <tuple>
#include <vector>

namespace torch::optim {

/// Options of Adamax.
struct TORCH_API AdamaxOptions : public detail::BuiltinOptions<AdamaxOptions> {
  AdamaxOptions(double lr = 2e-3);
  /// The learning rate. Throws if negative.
  TORCH_ARG(double, lr) = 2e-3;
  typedef std::tuple<double, double> betas_t;
  /// Decay of the averages of gradients and of their squares. Throws outside of [0, 1).
  TORCH_INDIRECT_ARG(betas_t, betas); // 0.9 and 0.999
  /// Added to the denominator. Throws if negative.
  TORCH_ARG(double, eps) = 1e-8;
  /// Factor of a penalty on squared parameters: weight_decay * param is added to the gradient. Throws if negative.
  TORCH_ARG(double, weight_decay) = 0;
  /// Climbs instead of descending.
  TORCH_ARG(bool, maximize) = false;
  /// One kernel for all parameters (the default on a CPU), or operator by operator.
  TORCH_ARG(std::optional<bool>, fused) = std::nullopt;
};

/// What Adamax keeps of a parameter.
struct TORCH_API AdamaxParamState : public detail::BuiltinParamState<AdamaxParamState> {
  /// Steps taken.
  TORCH_ARG(int64_t, step) = 0;
  /// Running average of gradients.
  TORCH_ARG(torch::Tensor, exp_avg);
  /// The greatest recent gradient: max(beta2 * exp_inf, |grad| + eps).
  TORCH_ARG(torch::Tensor, exp_inf);
};

/// Adamax: Adam whose denominator is the greatest recent gradient.
class TORCH_API Adamax : public Optimizer {
 public:
  /// `defaults` hold for groups without options of their own. Throws ValueError if one of lr, eps and weight_decay is
  /// negative or betas are not in [0, 1).
  explicit Adamax(const std::vector<OptimizerParamGroup>& param_groups, AdamaxOptions defaults = {});
  explicit Adamax(std::vector<Tensor> params, AdamaxOptions defaults = {});

  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

} // namespace torch::optim
