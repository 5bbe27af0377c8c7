// ReduceLROnPlateau: lower learning rates when a metric no longer gets better.
#pragma once

#include <c10/util/Indirect.h>
#include <csrc/optim/optimizer.h>

#include <vector>

namespace torch::optim {

/// Lowers learning rates when a metric has stopped improving.
class TORCH_API ReduceLROnPlateauScheduler {
 public:
  /// Whether lower or higher metrics are better.
  enum SchedulerMode { min, max };
  /// Whether the threshold is a share of the best metric or a difference from it.
  enum ThresholdMode { rel, abs };

  /// Multiplies the learning rates by `factor`, down to `min_lr` (one for each group), when the metric has not been
  /// better by `threshold` in more than `patience` steps; then waits for `cooldown` steps. Changes of less than `eps`
  /// are left out; `verbose` prints the others. Throws ValueError unless factor < 1 and there are as many limits as
  /// groups.
  ReduceLROnPlateauScheduler(
      Optimizer& optimizer,
      SchedulerMode mode = min,
      float factor = 0.1,
      int patience = 10,
      double threshold = 1e-4,
      ThresholdMode threshold_mode = rel,
      int cooldown = 0,
      const std::vector<float>& min_lr = no_limits(),
      double eps = 1e-8,
      bool verbose = false);
  virtual ~ReduceLROnPlateauScheduler() = default;

  /// Takes the metric of an epoch.
  void step(float metric);

  /// What changes from step to step, as a Dict(str, Any) under Python's names.
  c10::IValue state_dict() const;
  /// Takes the values from such a dictionary; missing ones stay as they are.
  void load_state_dict(const c10::IValue& state_dict);

 private:
  static const std::vector<float>& no_limits();
  void reduce_lr(int64_t epoch);
  bool is_better(double metric) const;

  Optimizer& optimizer_;
  SchedulerMode mode_;
  float factor_;
  int patience_;
  double threshold_;
  ThresholdMode threshold_mode_;
  int cooldown_;
  c10::Indirect<std::vector<float>> min_lrs_;
  double eps_;
  bool verbose_;

  double best_;
  int64_t last_epoch_ = 0, cooldown_counter_ = 0, num_bad_epochs_ = 0;
};

} // namespace torch::optim
