// Adam for sparse gradients: averages of a row, and the row itself, change only when the row has a gradient.
#pragma once

#include <csrc/optim/optimizer.h>

#include <tuple>
#include <vector>

namespace torch::optim {

struct TORCH_API SparseAdamOptions : public detail::BuiltinOptions<SparseAdamOptions> {
  SparseAdamOptions(double lr = 1e-3);
  TORCH_ARG(double, lr) = 1e-3;
  typedef std::tuple<double, double> betas_t;
  TORCH_INDIRECT_ARG(betas_t, betas);  // 0.9 and 0.999
  TORCH_ARG(double, eps) = 1e-8;
  /// Climbs instead of descending.
  TORCH_ARG(bool, maximize) = false;
};

struct TORCH_API SparseAdamParamState : public detail::BuiltinParamState<SparseAdamParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(torch::Tensor, exp_avg);
  TORCH_ARG(torch::Tensor, exp_avg_sq);
};

/// For parameters whose gradients are sparse, as those of Embedding with sparse(true). Parameters are dense and real; a
/// dense gradient is refused. The bias corrections count the steps of the parameter, not those of a row.
class TORCH_API SparseAdam : public Optimizer {
 public:
  explicit SparseAdam(const std::vector<OptimizerParamGroup>& param_groups, SparseAdamOptions defaults = {});
  explicit SparseAdam(std::vector<Tensor> params, SparseAdamOptions defaults = {});

  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

} // namespace torch::optim
