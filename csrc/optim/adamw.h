// AdamW: Adam with decoupled weight decay (Loshchilov and Hutter 2017).
#pragma once

#include <csrc/optim/optimizer.h>
#include <csrc/optim/step_count.h>

#include <tuple>
#include <vector>

namespace torch::optim {

/// Options of AdamW.
struct TORCH_API AdamWOptions : public detail::BuiltinOptions<AdamWOptions> {
  AdamWOptions(double lr = 1e-3);
  /// The learning rate. Throws if negative.
  TORCH_ARG(double, lr) = 1e-3;
  typedef std::tuple<double, double> betas_t;
  /// Decay of the averages of gradients and of their squares. Throws outside of [0, 1).
  TORCH_INDIRECT_ARG(betas_t, betas); // 0.9 and 0.999
  /// Added to the denominator. Throws if negative.
  TORCH_ARG(double, eps) = 1e-8;
  /// Parameters shrink by lr * weight_decay in each step. Throws if negative.
  TORCH_ARG(double, weight_decay) = 1e-2;
  /// Divides by the greatest average of squared gradients so far (Reddi et al., 2018).
  TORCH_ARG(bool, amsgrad) = false;
  /// Climbs instead of descending.
  TORCH_ARG(bool, maximize) = false;
  /// One kernel for all parameters (the default on a CPU), or operator by operator.
  TORCH_ARG(std::optional<bool>, fused) = std::nullopt;
};

/// What AdamW keeps of a parameter.
struct TORCH_API AdamWParamState : public detail::BuiltinParamState<AdamWParamState> {
  /// Steps taken.
  auto step(int64_t new_step) -> AdamWParamState& {
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

/// AdamW: Adam that shrinks parameters by lr * weight_decay, apart from the gradient.
class TORCH_API AdamW : public Optimizer {
 public:
  /// `defaults` hold for groups without options of their own. Throws ValueError if one of lr, eps and weight_decay is
  /// negative or betas are not in [0, 1).
  explicit AdamW(const std::vector<OptimizerParamGroup>& param_groups, AdamWOptions defaults = {});
  explicit AdamW(std::vector<Tensor> params, AdamWOptions defaults = {});

  Tensor step(LossClosure closure = nullptr) override;

 protected:
  bool supports_found_inf() const override;
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

} // namespace torch::optim
