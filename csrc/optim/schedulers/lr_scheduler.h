// Learning rates that change from step to step: what all schedulers share.
#pragma once

#include <c10/util/Indirect.h>
#include <csrc/optim/optimizer.h>

#include <initializer_list>
#include <string>
#include <vector>

extern template class TORCH_API c10::Indirect<std::vector<double>>;

namespace torch::optim {

/// Sets the learning rates of an optimizer, which must live as long as the scheduler.
class TORCH_API LRScheduler {
 public:
  /// Keeps a reference to the optimizer.
  LRScheduler(Optimizer& optimizer);
  virtual ~LRScheduler() = default;

  /// Call it once an epoch, or once a batch, after the optimizer's step.
  void step();

  /// The learning rate of each group.
  std::vector<double> get_last_lr() const;

  /// What changes from step to step, as a Dict(str, Any) under Python's names.
  virtual c10::IValue state_dict() const;
  /// Takes the values from such a dictionary; missing ones stay as they are. Throws where counts of groups differ.
  virtual void load_state_dict(const c10::IValue& state_dict);

 protected:
  /// The learning rate of each group after the step that is going on.
  virtual std::vector<double> get_lrs() = 0;
  std::vector<double> get_current_lrs() const;
  Optimizer& optimizer() const {
    return optimizer_;
  }
  void set_optimizer_lrs(const std::vector<double>& learning_rates);

  /// Steps that are complete.
  unsigned step_count_{};

 private:
  friend class SequentialLR;
  friend class ChainedScheduler;

  // How a sequence of schedulers starts its parts: takes back what a constructor did, starts at once, starts later.
  virtual void take_back() {}
  virtual void start() {}
  virtual void start_later();

  Optimizer& optimizer_;
};

/// One value for each group of an optimizer, or one for all.
class TORCH_API GroupValues {
 public:
  /// One value for all groups, or a list with one for each.
  GroupValues(double value);
  GroupValues(std::vector<double> values);
  GroupValues(std::initializer_list<double> values);

  /// A value for each group. Throws where there are more or fewer values than groups.
  std::vector<double> of(const char* name, const Optimizer& optimizer) const;

 private:
  c10::Indirect<std::vector<double>> values_;
  bool for_all_ = false;
};

/// Schedulers that count epochs as Python's do: the constructor sets the learning rates of epoch 0, and the first step
/// those of epoch 1. (LRScheduler and StepLR count as libtorch does: their first step is that of epoch 0.)
class TORCH_API EpochScheduler : public LRScheduler {
 public:
  /// The epoch whose learning rates are set.
  int64_t last_epoch() const {
    return last_epoch_;
  }

  c10::IValue state_dict() const override;
  void load_state_dict(const c10::IValue& state_dict) override;

 protected:
  explicit EpochScheduler(Optimizer& optimizer);

  /// Learning rates of last_epoch, from those of the epoch before or from base_lrs.
  virtual std::vector<double> rates() = 0;
  /// Learning rates of last_epoch from base_lrs alone.
  virtual std::vector<double> closed_form() {
    return rates();
  }

  /// Sets the learning rates of epoch 0; constructors end with it.
  void start() final;

  std::vector<double> scaled(const std::vector<double>& lrs, double factor) const;

  std::vector<double> base_lrs_;
  int64_t last_epoch_ = -1;
  int64_t epoch_steps_ = 0; // with that of the constructor
  bool initial_ = false; // in start()

 private:
  std::vector<double> get_lrs() final;
  void take_back() final;
  void start_later() final;
};

} // namespace torch::optim
