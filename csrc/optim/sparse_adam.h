// Adam for sparse gradients: averages of a row, and the row itself, change only when the row has a gradient.
#pragma once

#include <csrc/optim/optimizer.h>

#include <tuple>
#include <vector>

namespace torch::optim {

/// Options of SparseAdam.
struct TORCH_API SparseAdamOptions : public detail::BuiltinOptions<SparseAdamOptions> {
  SparseAdamOptions(double lr = 1e-3);
  /// The learning rate. Throws unless positive.
  TORCH_ARG(double, lr) = 1e-3;
  typedef std::tuple<double, double> betas_t;
  /// Decay of the averages of gradients and of their squares. Throws outside of [0, 1).
  TORCH_INDIRECT_ARG(betas_t, betas); // 0.9 and 0.999
  /// Added to the denominator. Throws unless positive.
  TORCH_ARG(double, eps) = 1e-8;
  /// Climbs instead of descending.
  TORCH_ARG(bool, maximize) = false;
};

/// What SparseAdam keeps of a parameter.
struct TORCH_API SparseAdamParamState : public detail::BuiltinParamState<SparseAdamParamState> {
  /// Steps taken.
  TORCH_ARG(int64_t, step) = 0;
  /// Running average of gradients.
  TORCH_ARG(torch::Tensor, exp_avg);
  /// Running average of squared gradients.
  TORCH_ARG(torch::Tensor, exp_avg_sq);
};

/// For parameters whose gradients are sparse, as those of Embedding with sparse(true): only the rows of the gradient
/// are changed. Parameters are dense and real; a dense gradient throws. The bias corrections count the steps of the
/// parameter, not those of a row.
class TORCH_API SparseAdam : public Optimizer {
 public:
  /// `defaults` hold for groups without options of their own. Throws ValueError unless lr and eps are positive and
  /// betas in [0, 1), and for parameters that are sparse or complex.
  explicit SparseAdam(const std::vector<OptimizerParamGroup>& param_groups, SparseAdamOptions defaults = {});
  explicit SparseAdam(std::vector<Tensor> params, SparseAdamOptions defaults = {});

  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

} // namespace torch::optim
