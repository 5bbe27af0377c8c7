#include <csrc/optim/schedulers/composed_schedulers.h>

#include <csrc/optim/schedulers/scheduler_state.h>

#include <algorithm>

namespace torch::optim {
namespace {

using Schedulers = std::vector<std::shared_ptr<LRScheduler>>;

/// Throws unless there are schedulers, all of them there.
const Schedulers& checked(const char* name, const Schedulers& schedulers) {
  TORCH_CHECK_VALUE(!schedulers.empty(), name, " expects at least one scheduler, but got no scheduler.");
  for (size_t i = 0; i < schedulers.size(); ++i) {
    TORCH_CHECK_VALUE(schedulers[i] != nullptr, name, ": the scheduler at index ", i, " is a null pointer");
  }
  return schedulers;
}

c10::impl::GenericList states(const Schedulers& schedulers) {
  c10::impl::GenericList list(c10::AnyType::get());
  for (const auto& scheduler : schedulers) {
    list.push_back(scheduler->state_dict());
  }
  return list;
}

void load_states(const char* name, const Schedulers& schedulers, const c10::IValue& state_dict) {
  const c10::IValue* saved = nullptr;
  const detail::SchedulerState state(state_dict);
  saved = state.find("_schedulers");
  TORCH_CHECK_VALUE(saved != nullptr, name, ": the state has no _schedulers");
  const auto list = saved->toListRef();
  TORCH_CHECK_VALUE(
      list.size() == schedulers.size(), name, ": the state is of ", list.size(), " schedulers, there are ",
      schedulers.size());
  for (size_t i = 0; i < schedulers.size(); ++i) {
    schedulers[i]->load_state_dict(list[i]);
  }
}

} // namespace

SequentialLR::SequentialLR(Optimizer& optimizer, Schedulers schedulers, std::vector<int64_t> milestones)
    : LRScheduler(optimizer), schedulers_(checked("SequentialLR", schedulers)), milestones_(std::move(milestones)) {
  TORCH_CHECK_VALUE(
      milestones_.size() + 1 == schedulers_->size(),
      "Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone points, "
      "but got "
      "number of schedulers ",
      schedulers_->size(), " and the number of milestones to be equal to ", milestones_.size());
  for (size_t i = 0; i < schedulers_->size(); ++i) {
    TORCH_CHECK_VALUE(
        &(*schedulers_)[i]->optimizer() == &optimizer,
        "SequentialLR expects all schedulers to belong to the same optimizer, but that at index ", i,
        " belongs to another one");
  }
  // The constructors of all parts have set learning rates; only the first part's are wanted.
  for (OptimizerParamGroup& group : optimizer.param_groups()) {
    group.options().set_lr(*group.initial_lr());
  }
  take_back();
  (*schedulers_)[active()]->start();
}

size_t SequentialLR::active() const {
  return static_cast<size_t>(
      std::upper_bound(milestones_.begin(), milestones_.end(), last_epoch_) - milestones_.begin());
}

std::vector<double> SequentialLR::get_lrs() {
  ++last_epoch_;
  const size_t index = active();
  if (index > 0 && milestones_[index - 1] == last_epoch_) {
    (*schedulers_)[index]->start_later();
  } else {
    (*schedulers_)[index]->step();
  }
  return get_current_lrs();
}

void SequentialLR::take_back() {
  for (const auto& scheduler : *schedulers_) {
    scheduler->take_back();
  }
}
void SequentialLR::start() {
  last_epoch_ = 0;
  (*schedulers_)[active()]->start();
}
void SequentialLR::start_later() {
  last_epoch_ = 0;
  (*schedulers_)[active()]->start_later();
}

c10::IValue SequentialLR::state_dict() const {
  auto state = detail::string_dict();
  state.insert(std::string("last_epoch"), last_epoch_);
  state.insert(std::string("_milestones"), milestones_);
  state.insert(std::string("_last_lr"), get_current_lrs());
  state.insert(std::string("_schedulers"), states(*schedulers_));
  return state;
}

void SequentialLR::load_state_dict(const c10::IValue& state_dict) {
  load_states("SequentialLR", *schedulers_, state_dict);
  detail::SchedulerState(state_dict).read("last_epoch", last_epoch_);
}

ChainedScheduler::ChainedScheduler(Schedulers schedulers)
    : LRScheduler(checked("ChainedScheduler", schedulers)[0]->optimizer()), schedulers_(std::move(schedulers)) {
  for (size_t i = 0; i < schedulers_->size(); ++i) {
    TORCH_CHECK_VALUE(
        &(*schedulers_)[i]->optimizer() == &optimizer(),
        "ChainedScheduler expects all schedulers to belong to the same optimizer, but that at index ", i,
        " belongs to another one");
  }
}

std::vector<double> ChainedScheduler::get_lrs() {
  for (const auto& scheduler : *schedulers_) {
    scheduler->step();
  }
  return get_current_lrs();
}

void ChainedScheduler::take_back() {
  for (const auto& scheduler : *schedulers_) {
    scheduler->take_back();
  }
}
void ChainedScheduler::start() {
  for (const auto& scheduler : *schedulers_) {
    scheduler->start();
  }
}
void ChainedScheduler::start_later() {
  for (const auto& scheduler : *schedulers_) {
    scheduler->start_later();
  }
}

c10::IValue ChainedScheduler::state_dict() const {
  auto state = detail::string_dict();
  state.insert(std::string("_last_lr"), get_current_lrs());
  state.insert(std::string("_schedulers"), states(*schedulers_));
  return state;
}

void ChainedScheduler::load_state_dict(const c10::IValue& state_dict) {
  load_states("ChainedScheduler", *schedulers_, state_dict);
}

} // namespace torch::optim
