#include <csrc/optim/schedulers/reduce_on_plateau_scheduler.h>

#include <csrc/optim/schedulers/scheduler_state.h>

#include <cmath>
#include <cstdio>
#include <limits>

namespace torch::optim {

ReduceLROnPlateauScheduler::ReduceLROnPlateauScheduler(
    Optimizer& optimizer,
    SchedulerMode mode,
    float factor,
    int patience,
    double threshold,
    ThresholdMode threshold_mode,
    int cooldown,
    const std::vector<float>& min_lr,
    double eps,
    bool verbose)
    : optimizer_(optimizer),
      mode_(mode),
      factor_(factor),
      patience_(patience),
      threshold_(threshold),
      threshold_mode_(threshold_mode),
      cooldown_(cooldown),
      min_lrs_(min_lr.empty() ? std::vector<float>(optimizer.param_groups().size()) : min_lr),
      eps_(eps),
      verbose_(verbose),
      best_(mode == min ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity()) {
  TORCH_CHECK_VALUE(factor < 1.0, "Factor should be < 1.0. (ReduceLROnPlateauScheduler got ", factor, ")");
  TORCH_CHECK_VALUE(
      min_lrs_->size() == optimizer.param_groups().size(), "expected ", optimizer.param_groups().size(),
      " min_lrs, got ", min_lrs_->size());
}

bool ReduceLROnPlateauScheduler::is_better(double metric) const {
  const double sign = mode_ == min ? -1 : 1;
  const double limit = threshold_mode_ == rel ? best_ * (1 + sign * threshold_) : best_ + sign * threshold_;
  return mode_ == min ? metric < limit : metric > limit;
}

void ReduceLROnPlateauScheduler::step(float metric) {
  ++last_epoch_;
  if (is_better(metric)) {
    best_ = metric;
    num_bad_epochs_ = 0;
  } else {
    ++num_bad_epochs_;
  }
  if (cooldown_counter_ > 0) {
    --cooldown_counter_;
    num_bad_epochs_ = 0;
  }
  if (num_bad_epochs_ > patience_) {
    reduce_lr(last_epoch_);
    cooldown_counter_ = cooldown_;
    num_bad_epochs_ = 0;
  }
}

const std::vector<float>& ReduceLROnPlateauScheduler::no_limits() {
  static const std::vector<float> none;
  return none;
}

void ReduceLROnPlateauScheduler::reduce_lr(int64_t epoch) {
  auto& groups = optimizer_.param_groups();
  TORCH_CHECK(
      groups.size() == min_lrs_->size(), "ReduceLROnPlateauScheduler: the optimizer has ", groups.size(),
      " parameter groups, there were ", min_lrs_->size(), " when the scheduler was made");
  for (size_t i = 0; i < groups.size(); ++i) {
    const double old_lr = groups[i].options().get_lr();
    const double new_lr = std::fmax(old_lr * factor_, (*min_lrs_)[i]);
    if (old_lr - new_lr <= eps_) {
      continue;
    }
    groups[i].options().set_lr(new_lr);
    if (verbose_) {
      std::printf(
          "Epoch %lld: reducing learning rate of group %zu to %.4g\n", static_cast<long long>(epoch), i, new_lr);
    }
  }
}

c10::IValue ReduceLROnPlateauScheduler::state_dict() const {
  auto state = detail::string_dict();
  state.insert(std::string("best"), best_);
  state.insert(std::string("last_epoch"), last_epoch_);
  state.insert(std::string("cooldown_counter"), cooldown_counter_);
  state.insert(std::string("num_bad_epochs"), num_bad_epochs_);
  return state;
}

void ReduceLROnPlateauScheduler::load_state_dict(const c10::IValue& state_dict) {
  const detail::SchedulerState state(state_dict);
  state.read("best", best_);
  state.read("last_epoch", last_epoch_);
  state.read("cooldown_counter", cooldown_counter_);
  state.read("num_bad_epochs", num_bad_epochs_);
}

} // namespace torch::optim
