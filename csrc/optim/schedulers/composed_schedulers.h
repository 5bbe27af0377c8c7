// Schedulers made of schedulers. Names as in Python's torch.optim.lr_scheduler.
#pragma once

#include <c10/util/Indirect.h>
#include <csrc/optim/schedulers/lr_scheduler.h>

#include <memory>
#include <vector>

namespace torch::optim {

/// One scheduler after another: number i + 1 takes over at epoch milestones[i].
class TORCH_API SequentialLR : public LRScheduler {
 public:
  /// Throws ValueError unless there is a scheduler, one milestone fewer than schedulers, and all of them belong to
  /// `optimizer`.
  SequentialLR(
      Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedulers, std::vector<int64_t> milestones);

  /// Steps taken.
  int64_t last_epoch() const {
    return last_epoch_;
  }

  c10::IValue state_dict() const override;
  void load_state_dict(const c10::IValue& state_dict) override;

 private:
  std::vector<double> get_lrs() override;
  void take_back() override;
  void start() override;
  void start_later() override;
  size_t active() const;

  c10::Indirect<std::vector<std::shared_ptr<LRScheduler>>> schedulers_;
  std::vector<int64_t> milestones_;
  int64_t last_epoch_ = 0;
};

/// All schedulers at once: each changes the learning rates that the one before has set.
class TORCH_API ChainedScheduler : public LRScheduler {
 public:
  /// Throws ValueError unless there is a scheduler and all belong to one optimizer.
  explicit ChainedScheduler(std::vector<std::shared_ptr<LRScheduler>> schedulers);

  c10::IValue state_dict() const override;
  void load_state_dict(const c10::IValue& state_dict) override;

 private:
  std::vector<double> get_lrs() override;
  void take_back() override;
  void start() override;
  void start_later() override;

  c10::Indirect<std::vector<std::shared_ptr<LRScheduler>>> schedulers_;
};

} // namespace torch::optim
