// Adagrad (Duchi et al. 2011).
#pragma once

#include <csrc/optim/optimizer.h>
#include <csrc/optim/step_count.h>

#include <vector>

namespace torch::optim {

struct TORCH_API AdagradOptions : public detail::BuiltinOptions<AdagradOptions> {
  AdagradOptions(double lr = 1e-2);
  TORCH_ARG(double, lr) = 1e-2;
  TORCH_ARG(double, lr_decay) = 0;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(double, initial_accumulator_value) = 0;
  TORCH_ARG(double, eps) = 1e-10;
  /// Climbs instead of descending.
  TORCH_ARG(bool, maximize) = false;
  /// One kernel for all parameters (the default on a CPU), or operator by operator.
  TORCH_ARG(std::optional<bool>, fused) = std::nullopt;
};

struct TORCH_API AdagradParamState : public detail::BuiltinParamState<AdagradParamState> {
  TORCH_ARG(torch::Tensor, sum);

 public:
  auto step(int64_t new_step) -> AdagradParamState& {
    step_.get() = new_step;
    return *this;
  }
  const int64_t& step() const { return step_.get(); }
  int64_t& step() { return step_.get(); }
  /// Where steps under a loss scaler count.
  const Tensor& step_on_device(c10::Device device) { return step_.on_device(device); }

 private:
  detail::StepCount step_;
};

class TORCH_API Adagrad : public Optimizer {
 public:
  explicit Adagrad(const std::vector<OptimizerParamGroup>& param_groups, AdagradOptions defaults = {});
  explicit Adagrad(std::vector<Tensor> params, AdagradOptions defaults = {});

  Tensor step(LossClosure closure = nullptr) override;

 protected:
  bool takes_found_inf() const override;
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

} // namespace torch::optim
