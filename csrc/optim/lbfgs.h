// L-BFGS (Nocedal and Wright, Numerical Optimization, algorithm 7.4), with a line search for the strong Wolfe
// conditions.
#pragma once

#include <csrc/optim/optimizer.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

extern template class TORCH_API c10::Indirect<std::deque<at::Tensor>>;
extern template class TORCH_API c10::Indirect<std::optional<std::vector<at::Tensor>>>;

namespace torch::optim {

/// Options of LBFGS.
struct TORCH_API LBFGSOptions : public detail::BuiltinOptions<LBFGSOptions> {
  LBFGSOptions(double lr = 1);
  /// The learning rate. Throws if negative.
  TORCH_ARG(double, lr) = 1;
  /// Iterations of one step.
  TORCH_ARG(int64_t, max_iter) = 20;
  /// Evaluations of the closure in one step; 1.25 times max_iter where not given.
  TORCH_ARG(std::optional<int64_t>, max_eval) = std::nullopt;
  /// Ends a step when no element of the gradient is larger.
  TORCH_ARG(double, tolerance_grad) = 1e-7;
  /// Ends a step when neither loss nor parameters change by more.
  TORCH_ARG(double, tolerance_change) = 1e-9;
  /// Updates that the direction is computed from. Throws unless positive.
  TORCH_ARG(int64_t, history_size) = 100;
  /// "strong_wolfe", or nothing for steps of length lr.
  TORCH_INDIRECT_ARG(std::optional<std::string>, line_search_fn);
  /// Climbs instead of descending.
  TORCH_ARG(bool, maximize) = false;
};

/// State of the whole optimizer; it is kept under the first parameter.
struct TORCH_API LBFGSParamState : public detail::BuiltinParamState<LBFGSParamState> {
  /// Evaluations of the closure so far.
  TORCH_ARG(int64_t, func_evals) = 0;
  /// Iterations so far.
  TORCH_ARG(int64_t, n_iter) = 0;
  /// Length of the last step.
  TORCH_ARG(double, t) = 0;
  /// The loss before it.
  TORCH_ARG(double, prev_loss) = 0;
  /// The last direction, of all parameters in one row.
  TORCH_ARG(Tensor, d);
  /// Scale of the first approximation of the inverse Hessian matrix.
  TORCH_ARG(Tensor, H_diag);
  /// The gradient before the last step, in one row.
  TORCH_ARG(Tensor, prev_flat_grad);
  /// Recent changes of the gradient.
  TORCH_INDIRECT_ARG(std::deque<Tensor>, old_dirs);
  /// Recent changes of the parameters.
  TORCH_INDIRECT_ARG(std::deque<Tensor>, old_stps);
  /// 1 / (change of the gradient . change of the parameters), for each.
  TORCH_INDIRECT_ARG(std::deque<Tensor>, ro);
  /// Scratch memory of the recursion.
  TORCH_INDIRECT_ARG(std::optional<std::vector<Tensor>>, al);
};

/// L-BFGS: a quasi-Newton method with limited memory, for full batches. All parameters are in one group.
class TORCH_API LBFGS : public Optimizer {
 public:
  /// `defaults` hold for groups without options of their own. Throws ValueError if lr is negative, history_size is not
  /// positive or there are several groups.
  explicit LBFGS(const std::vector<OptimizerParamGroup>& param_groups, LBFGSOptions defaults = {});
  explicit LBFGS(std::vector<Tensor> params, LBFGSOptions defaults = {});

  /// Up to max_iter iterations. The closure is needed: it is called several times.
  Tensor step(LossClosure closure) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;

 private:
  struct Evaluation {
    double loss = 0;
    Tensor grad; // of all parameters in one row
  };

  Tensor iterate(const LossClosure& closure);
  Evaluation evaluate(const LossClosure& closure, Tensor* loss = nullptr);
  Tensor direction(LBFGSParamState& state, const Tensor& grad);
  Tensor flat_grad();
  void move(double length, const Tensor& direction);
};

} // namespace torch::optim
