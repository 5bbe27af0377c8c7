// Rprop: step sizes that follow the signs of gradients (Riedmiller and Braun 1993).
#pragma once

#include <csrc/optim/optimizer.h>

#include <tuple>
#include <vector>

namespace torch::optim {

/// Options of Rprop.
struct TORCH_API RpropOptions : public detail::BuiltinOptions<RpropOptions> {
  RpropOptions(double lr = 1e-2);
  /// The first step size of each element. Throws if negative.
  TORCH_ARG(double, lr) = 1e-2;
  typedef std::tuple<double, double> pair_t;
  /// Factors of a step size after the gradient turned, and after it did not.
  TORCH_INDIRECT_ARG(pair_t, etas); // 0.5 and 1.2
  /// The smallest and the largest step size.
  TORCH_INDIRECT_ARG(pair_t, step_sizes); // 1e-6 and 50
  /// Climbs instead of descending.
  TORCH_ARG(bool, maximize) = false;
  /// One kernel for all parameters (the default on a CPU), or operator by operator.
  TORCH_ARG(std::optional<bool>, fused) = std::nullopt;
};

/// What Rprop keeps of a parameter.
struct TORCH_API RpropParamState : public detail::BuiltinParamState<RpropParamState> {
  /// Steps taken.
  TORCH_ARG(int64_t, step) = 0;
  /// The previous gradient.
  TORCH_ARG(torch::Tensor, prev);
  /// Step size of each element.
  TORCH_ARG(torch::Tensor, step_size);
};

/// Resilient propagation: each element has a step size, which grows while the gradient keeps its sign. For full
/// batches.
class TORCH_API Rprop : public Optimizer {
 public:
  /// `defaults` hold for groups without options of their own. Throws ValueError if lr is negative and unless 0 <
  /// etas[0] < 1 < etas[1].
  explicit Rprop(const std::vector<OptimizerParamGroup>& param_groups, RpropOptions defaults = {});
  explicit Rprop(std::vector<Tensor> params, RpropOptions defaults = {});

  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

} // namespace torch::optim
