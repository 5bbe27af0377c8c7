// Adagrad (Duchi et al. 2011).
#pragma once

#include <csrc/optim/optimizer.h>
#include <csrc/optim/step_count.h>

#include <vector>

namespace torch::optim {

/// Options of Adagrad.
struct TORCH_API AdagradOptions : public detail::BuiltinOptions<AdagradOptions> {
  AdagradOptions(double lr = 1e-2);
  /// The learning rate. Throws if negative.
  TORCH_ARG(double, lr) = 1e-2;
  /// How fast the learning rate falls. Throws if negative.
  TORCH_ARG(double, lr_decay) = 0;
  /// Factor of a penalty on squared parameters: weight_decay * param is added to the gradient. Throws if negative.
  TORCH_ARG(double, weight_decay) = 0;
  /// What the sum of squares starts with. Throws if negative.
  TORCH_ARG(double, initial_accumulator_value) = 0;
  /// Added to the denominator. Throws if negative.
  TORCH_ARG(double, eps) = 1e-10;
  /// Climbs instead of descending.
  TORCH_ARG(bool, maximize) = false;
  /// One kernel for all parameters (the default on a CPU), or operator by operator.
  TORCH_ARG(std::optional<bool>, fused) = std::nullopt;
};

/// What Adagrad keeps of a parameter.
struct TORCH_API AdagradParamState : public detail::BuiltinParamState<AdagradParamState> {
  /// Sum of squared gradients.
  TORCH_ARG(torch::Tensor, sum);

 public:
  /// Steps taken.
  auto step(int64_t new_step) -> AdagradParamState& {
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
};

/// Adagrad: param -= lr / (1 + (step - 1) * lr_decay) * grad / (sqrt(sum of grad^2) + eps). Takes sparse gradients,
/// without weight decay.
class TORCH_API Adagrad : public Optimizer {
 public:
  /// `defaults` hold for groups without options of their own. Throws ValueError if an option is negative.
  explicit Adagrad(const std::vector<OptimizerParamGroup>& param_groups, AdagradOptions defaults = {});
  explicit Adagrad(std::vector<Tensor> params, AdagradOptions defaults = {});

  Tensor step(LossClosure closure = nullptr) override;

 protected:
  bool supports_found_inf() const override;
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

} // namespace torch::optim
