// Adam (Kingma and Ba 2014), with amsgrad (Reddi et al. 2018).
#pragma once

#include <csrc/optim/optimizer.h>
#include <csrc/optim/step_count.h>

#include <tuple>
#include <vector>

namespace torch::optim {

/// Options of Adam.
struct TORCH_API AdamOptions : public detail::BuiltinOptions<AdamOptions> {
  AdamOptions(double lr = 1e-3);
  /// The learning rate. Throws if negative.
  TORCH_ARG(double, lr) = 1e-3;
  typedef std::tuple<double, double> betas_t;
  /// Decay of the averages of gradients and of their squares. Throws outside of [0, 1).
  TORCH_INDIRECT_ARG(betas_t, betas); // 0.9 and 0.999
  /// Added to the denominator. Throws if negative.
  TORCH_ARG(double, eps) = 1e-8;
  /// Factor of a penalty on squared parameters: weight_decay * param is added to the gradient. Throws if negative.
  TORCH_ARG(double, weight_decay) = 0;
  /// Divides by the greatest average of squared gradients so far (Reddi et al., 2018).
  TORCH_ARG(bool, amsgrad) = false;
  /// Climbs instead of descending.
  TORCH_ARG(bool, maximize) = false;
  /// One kernel for all parameters (the default on a CPU), or operator by operator.
  TORCH_ARG(std::optional<bool>, fused) = std::nullopt;
};

/// What Adam keeps of a parameter.
struct TORCH_API AdamParamState : public detail::BuiltinParamState<AdamParamState> {
  /// Steps taken.
  auto step(int64_t new_step) -> AdamParamState& {
    step_.get() = new_step;
    return *this;
  }
  const int64_t& step() const {
    return step_.get();
  }
  int64_t& step() {
    return step_.get();
  }
  /// Where steps under a loss scaler count.
  const Tensor& step_on_device(c10::Device device) {
    return step_.on_device(device);
  }

 private:
  detail::StepCount step_;
  /// Running average of gradients.
  TORCH_ARG(torch::Tensor, exp_avg);
  /// Running average of squared gradients.
  TORCH_ARG(torch::Tensor, exp_avg_sq);
  /// The greatest exp_avg_sq so far; undefined without amsgrad.
  TORCH_ARG(torch::Tensor, max_exp_avg_sq);
};

/// Adam: param -= lr * m / (sqrt(v) + eps), where m and v are the averages of gradients and their squares, corrected
/// for their start at zero.
class TORCH_API Adam : public Optimizer {
 public:
  /// `defaults` hold for groups without options of their own. Throws ValueError if one of lr, eps and weight_decay is
  /// negative or betas are not in [0, 1).
  explicit Adam(const std::vector<OptimizerParamGroup>& param_groups, AdamOptions defaults = {});
  explicit Adam(std::vector<Tensor> params, AdamOptions defaults = {});

  Tensor step(LossClosure closure = nullptr) override;

 protected:
  bool supports_found_inf() const override;
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

} // namespace torch::optim
