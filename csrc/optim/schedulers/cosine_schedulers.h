// Learning rates along a cosine (Loshchilov and Hutter 2016). Names as in Python's torch.optim.lr_scheduler.
#pragma once

#include <csrc/optim/schedulers/lr_scheduler.h>

namespace torch::optim {

/// Down to eta_min in T_max epochs, up again in the next T_max, and so on.
class TORCH_API CosineAnnealingLR : public EpochScheduler {
 public:
  /// Throws ValueError unless T_max is positive.
  CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min = 0.0);

 private:
  std::vector<double> rates() override;
  std::vector<double> closed_form() override;
  int64_t T_max_;
  double eta_min_;
};

/// Down to eta_min in T_0 epochs, then anew; each round T_mult times as long as the one before.
class TORCH_API CosineAnnealingWarmRestarts : public EpochScheduler {
 public:
  /// Throws ValueError unless T_0 is positive and T_mult at least 1.
  CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t T_0, int64_t T_mult = 1, double eta_min = 0.0);

  using LRScheduler::step;
  /// Sets the learning rates of an epoch, or of a point within it. Throws ValueError if negative or not finite.
  void step(double epoch);

  c10::IValue state_dict() const override;
  void load_state_dict(const c10::IValue& state_dict) override;

 private:
  std::vector<double> rates() override;
  std::vector<double> closed_form() override;
  int64_t next_period() const;
  int64_t T_0_, T_mult_;
  double eta_min_;
  double T_cur_ = 0; // epochs since the last restart
  int64_t T_i_; // epochs between it and the next one
};

} // namespace torch::optim
