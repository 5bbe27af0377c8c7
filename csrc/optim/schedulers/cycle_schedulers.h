// Learning rates, and momenta against them, in cycles (Smith 2015, Smith and Topin 2017). Names as in Python's
// torch.optim.lr_scheduler. Call step() after each batch.
#pragma once

#include <csrc/optim/schedulers/lr_scheduler.h>

#include <functional>
#include <optional>
#include <string>

namespace torch::optim {

/// Options of OneCycleLR.
struct TORCH_API OneCycleLROptions {
  /// The rate at the peak, and the steps of the whole cycle: given, or epochs * steps_per_epoch. Throws ValueError
  /// unless positive.
  OneCycleLROptions(GroupValues max_lr, int64_t total_steps);
  OneCycleLROptions(GroupValues max_lr, int64_t epochs, int64_t steps_per_epoch);

  /// The rate at the peak.
  TORCH_ARG(GroupValues, max_lr);
  /// Steps of the whole cycle. Throws unless positive.
  TORCH_ARG(int64_t, total_steps);
  /// The share of the cycle in which the rate grows.
  TORCH_ARG(double, pct_start) = 0.3;
  /// "cos" or "linear".
  TORCH_ARG(std::string, anneal_strategy) = "cos";
  /// Moves the momentum (beta1 for optimizers with betas) against the rate. Throws where there is none.
  TORCH_ARG(bool, cycle_momentum) = true;
  /// The momentum at the peak.
  TORCH_ARG(GroupValues, base_momentum) = 0.85;
  /// The momentum at start and end.
  TORCH_ARG(GroupValues, max_momentum) = 0.95;
  /// max_lr over the rate at the start.
  TORCH_ARG(double, div_factor) = 25.0;
  /// The rate at the start over that at the end.
  TORCH_ARG(double, final_div_factor) = 1e4;
  /// Back to the rate of the start before it falls to that of the end.
  TORCH_ARG(bool, three_phase) = false;
};

/// Up to a peak and down to almost nothing, once.
class TORCH_API OneCycleLR : public EpochScheduler {
 public:
  /// Throws ValueError for pct_start outside of [0, 1], for an unknown strategy, and for momentum that the optimizer
  /// has not. A step beyond the last throws too.
  OneCycleLR(Optimizer& optimizer, const OneCycleLROptions& options);

 private:
  struct Phase {
    double end;
    const std::vector<double>&start_lr, &end_lr, &start_momentum, &end_momentum;
  };

  std::vector<double> rates() override;
  std::vector<Phase> phases() const;
  double anneal(double start, double end, double share) const;

  int64_t total_steps_;
  double pct_start_;
  bool cosine_, cycle_momentum_, three_phase_;
  std::vector<double> max_lrs_, min_lrs_, base_momentums_, max_momentums_;
};

/// Options of CyclicLR.
struct TORCH_API CyclicLROptions {
  /// The lowest and the highest rate.
  CyclicLROptions(GroupValues base_lr, GroupValues max_lr);

  /// The lowest rate.
  TORCH_ARG(GroupValues, base_lr);
  /// The highest rate.
  TORCH_ARG(GroupValues, max_lr);
  /// Steps of the rising half. Throws unless positive.
  TORCH_ARG(int64_t, step_size_up) = 2000;
  /// Steps of the falling half; as many as of the rising one where not given.
  TORCH_ARG(std::optional<int64_t>, step_size_down) = std::nullopt;
  /// "triangular", "triangular2" (half as high each cycle) or "exp_range" (times gamma each step).
  TORCH_ARG(std::string, mode) = "triangular";
  /// The factor of exp_range.
  TORCH_ARG(double, gamma) = 1.0;
  /// Instead of a mode: the height of a cycle by its number, or by that of the step.
  TORCH_ARG(std::function<double(double)>, scale_fn) = nullptr;
  /// What scale_fn is called with: "cycle" (from 1) or "iterations" (from 0).
  TORCH_ARG(std::string, scale_mode) = "cycle";
  /// Moves the momentum (beta1 for optimizers with betas) against the rate. Throws where there is none.
  TORCH_ARG(bool, cycle_momentum) = true;
  /// The momentum at the highest rate.
  TORCH_ARG(GroupValues, base_momentum) = 0.8;
  /// The momentum at the lowest rate.
  TORCH_ARG(GroupValues, max_momentum) = 0.9;
};

/// Up and down between two rates.
class TORCH_API CyclicLR : public EpochScheduler {
 public:
  /// Throws ValueError for an unknown mode, for halves without steps, and for momentum that the optimizer has not.
  CyclicLR(Optimizer& optimizer, const CyclicLROptions& options);

 private:
  std::vector<double> rates() override;
  double height(double cycle) const;

  CyclicLROptions options_;
  std::vector<double> max_lrs_, base_momentums_, max_momentums_;
};

} // namespace torch::optim
