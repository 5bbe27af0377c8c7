// Adamax: Adam by the infinity norm (Kingma and Ba 2014, section 7.1).
#pragma once

#include <csrc/optim/optimizer.h>

#include <tuple>
#include <vector>

namespace torch::optim {

struct TORCH_API AdamaxOptions : public detail::BuiltinOptions<AdamaxOptions> {
  AdamaxOptions(double lr = 2e-3);
  TORCH_ARG(double, lr) = 2e-3;
  typedef std::tuple<double, double> betas_t;
  TORCH_INDIRECT_ARG(betas_t, betas);  // 0.9 and 0.999
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 0;
  /// Climbs instead of descending.
  TORCH_ARG(bool, maximize) = false;
  /// One kernel for all parameters (the default on a CPU), or operator by operator.
  TORCH_ARG(std::optional<bool>, fused) = std::nullopt;
};

struct TORCH_API AdamaxParamState : public detail::BuiltinParamState<AdamaxParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(torch::Tensor, exp_avg);
  TORCH_ARG(torch::Tensor, exp_inf);
};

class TORCH_API Adamax : public Optimizer {
 public:
  explicit Adamax(const std::vector<OptimizerParamGroup>& param_groups, AdamaxOptions defaults = {});
  explicit Adamax(std::vector<Tensor> params, AdamaxOptions defaults = {});

  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

} // namespace torch::optim
