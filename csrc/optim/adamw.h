// AdamW: Adam with decoupled weight decay (Loshchilov and Hutter 2017).
#pragma once

#include <csrc/optim/optimizer.h>
#include <csrc/optim/step_count.h>

#include <tuple>
#include <vector>

namespace torch::optim {

struct TORCH_API AdamWOptions : public detail::BuiltinOptions<AdamWOptions> {
  AdamWOptions(double lr = 1e-3);
  TORCH_ARG(double, lr) = 1e-3;
  typedef std::tuple<double, double> betas_t;
  TORCH_INDIRECT_ARG(betas_t, betas);  // 0.9 and 0.999
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 1e-2;
  TORCH_ARG(bool, amsgrad) = false;
  /// Climbs instead of descending.
  TORCH_ARG(bool, maximize) = false;
  /// One kernel for all parameters (the default on a CPU), or operator by operator.
  TORCH_ARG(std::optional<bool>, fused) = std::nullopt;
};

struct TORCH_API AdamWParamState : public detail::BuiltinParamState<AdamWParamState> {
  auto step(int64_t new_step) -> AdamWParamState& {
    step_.get() = new_step;
    return *this;
  }
  const int64_t& step() const { return step_.get(); }
  int64_t& step() { return step_.get(); }
  /// Where steps under a loss scaler count.
  const Tensor& step_on_device(c10::Device device) { return step_.on_device(device); }

 private:
  detail::StepCount step_;
  TORCH_ARG(torch::Tensor, exp_avg);
  TORCH_ARG(torch::Tensor, exp_avg_sq);
  TORCH_ARG(torch::Tensor, max_exp_avg_sq);
};

class TORCH_API AdamW : public Optimizer {
 public:
  explicit AdamW(const std::vector<OptimizerParamGroup>& param_groups, AdamWOptions defaults = {});
  explicit AdamW(std::vector<Tensor> params, AdamWOptions defaults = {});

  Tensor step(LossClosure closure = nullptr) override;

 protected:
  bool takes_found_inf() const override;
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

} // namespace torch::optim
