#include <csrc/optim/schedulers/lr_scheduler.h>

#include <csrc/optim/schedulers/scheduler_state.h>

template class c10::Indirect<std::vector<double>>;

namespace torch::optim {

LRScheduler::LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {
  for (OptimizerParamGroup& group : optimizer.param_groups()) {
    if (!group.initial_lr()) {
      group.set_initial_lr(group.options().get_lr());
    }
  }
}

void LRScheduler::step() {
  set_optimizer_lrs(get_lrs());
  ++step_count_;
}

std::vector<double> LRScheduler::get_last_lr() const {
  return get_current_lrs();
}

std::vector<double> LRScheduler::get_current_lrs() const {
  std::vector<double> result;
  for (const OptimizerParamGroup& group : optimizer_.param_groups()) {
    result.push_back(group.options().get_lr());
  }
  return result;
}

void LRScheduler::set_optimizer_lrs(const std::vector<double>& learning_rates) {
  auto& groups = optimizer_.param_groups();
  TORCH_CHECK(
      learning_rates.size() == groups.size(),
      "Number of learning rates not equal to the number of param groups: ", learning_rates.size(), " and ",
      groups.size(), "; make the scheduler after the last group is added");
  for (size_t i = 0; i < groups.size(); ++i) {
    groups[i].options().set_lr(learning_rates[i]);
  }
}

void LRScheduler::start_later() {
  for (OptimizerParamGroup& group : optimizer_.param_groups()) {
    group.options().set_lr(group.initial_lr().value_or(group.options().get_lr()));
  }
  step_count_ = 0;
}

c10::IValue LRScheduler::state_dict() const {
  auto state = detail::string_dict();
  state.insert(std::string("_step_count"), static_cast<int64_t>(step_count_));
  state.insert(std::string("_last_lr"), get_current_lrs());
  return state;
}

void LRScheduler::load_state_dict(const c10::IValue& state_dict) {
  const detail::SchedulerState state(state_dict);
  int64_t steps = step_count_;
  state.read("_step_count", steps);
  step_count_ = static_cast<unsigned>(steps);
}

GroupValues::GroupValues(double value) : values_(std::vector<double>{value}), for_all_(true) {}
GroupValues::GroupValues(std::vector<double> values) : values_(std::move(values)) {}
GroupValues::GroupValues(std::initializer_list<double> values) : values_(std::vector<double>(values)) {}

std::vector<double> GroupValues::of(const char* name, const Optimizer& optimizer) const {
  const size_t groups = optimizer.param_groups().size();
  if (for_all_) {
    return std::vector<double>(groups, (*values_)[0]);
  }
  TORCH_CHECK_VALUE(
      values_->size() == groups, name, " must have the same length as optimizer.param_groups. ", name, " has ",
      values_->size(), " values, param_groups has ", groups, ".");
  return *values_;
}

EpochScheduler::EpochScheduler(Optimizer& optimizer) : LRScheduler(optimizer) {
  for (const OptimizerParamGroup& group : optimizer.param_groups()) {
    base_lrs_.push_back(*group.initial_lr());
  }
}

void EpochScheduler::start() {
  epoch_steps_ = 0;
  initial_ = true;
  set_optimizer_lrs(get_lrs());
  initial_ = false;
}

std::vector<double> EpochScheduler::get_lrs() {
  ++epoch_steps_;
  ++last_epoch_;
  return rates();
}

void EpochScheduler::take_back() {
  --last_epoch_;
}

void EpochScheduler::start_later() {
  last_epoch_ = 0;
  set_optimizer_lrs(closed_form());
}

std::vector<double> EpochScheduler::scaled(const std::vector<double>& lrs, double factor) const {
  std::vector<double> result(lrs);
  for (double& lr : result) {
    lr *= factor;
  }
  return result;
}

c10::IValue EpochScheduler::state_dict() const {
  auto state = detail::string_dict();
  state.insert(std::string("base_lrs"), base_lrs_);
  state.insert(std::string("last_epoch"), last_epoch_);
  state.insert(std::string("_step_count"), epoch_steps_);
  state.insert(std::string("_last_lr"), get_current_lrs());
  return state;
}

void EpochScheduler::load_state_dict(const c10::IValue& state_dict) {
  const detail::SchedulerState state(state_dict);
  state.read("base_lrs", base_lrs_);
  state.read("last_epoch", last_epoch_);
  state.read("_step_count", epoch_steps_);
}

} // namespace torch::optim
