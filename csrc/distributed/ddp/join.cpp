// Join: ranks whose inputs end early follow the steps of the others.
#include <csrc/distributed/ddp/join.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <exception>

namespace torch::distributed {

int JoinStep::active_count() const {
  return static_cast<int>(std::count(active.begin(), active.end(), true));
}

int JoinStep::first_active() const {
  const auto first = std::find(active.begin(), active.end(), true);
  return first == active.end() ? -1 : static_cast<int>(first - active.begin());
}

Joinable::~Joinable() {
  if (join_ != nullptr) {
    join_->release();
  }
}

const JoinStep* Joinable::notify(bool syncs) {
  if (join_ == nullptr || join_->joinables_.front() != this) {
    return nullptr;
  }
  const JoinStep& step = join_->exchange(/*active=*/true, syncs);
  TORCH_CHECK(
      !join_->throw_on_early_termination_ || step.active_count() == static_cast<int>(step.active.size()),
      "Detected at least one rank that exhausted inputs. Throwing across all ranks. ",
      step.active.size() - static_cast<size_t>(step.active_count()), " of ", step.active.size(), " have ended.");
  return &step;
}

bool Joinable::join_divides_by_world() const {
  return join_ == nullptr || join_->divide_by_initial_world_size_;
}

Join::Join(std::vector<Joinable*> joinables, bool divide_by_initial_world_size, bool throw_on_early_termination)
    : joinables_(std::move(joinables)),
      divide_by_initial_world_size_(divide_by_initial_world_size),
      throw_on_early_termination_(throw_on_early_termination),
      exceptions_(std::uncaught_exceptions()) {
  TORCH_CHECK_VALUE(!joinables_.empty(), "The join context manager requires at least one joinable");
  for (Joinable* joinable : joinables_) {
    TORCH_CHECK_VALUE(joinable != nullptr, "Join: a joinable is null");
    TORCH_CHECK_VALUE(joinable->join_ == nullptr, "Join: a joinable is in another Join already");
    TORCH_CHECK_VALUE(
        joinable->join_group() == joinables_.front()->join_group(),
        "Using join context manager with multiple process groups");
  }
  group_ = joinables_.front()->join_group();
  step_.active.assign(static_cast<size_t>(group_->getSize()), false);
  last_ = step_;
  for (Joinable* joinable : joinables_) {
    joinable->join_ = this;
  }
}

Join::~Join() noexcept(false) {
  if (std::uncaught_exceptions() > exceptions_) {
    release();
  } else {
    finish();
  }
}

void Join::release() {
  for (Joinable* joinable : joinables_) {
    joinable->join_ = nullptr;
  }
  finished_ = true;
}

// What each rank is about to do, to all.
const JoinStep& Join::exchange(bool active, bool syncs) {
  const auto types = group_->getDeviceTypes();
  const bool on_cpu = types.empty() || group_->hasBackendForDeviceType(c10::kCPU);
  auto mine = at::full({1}, active ? (syncs ? 2 : 1) : 0, at::kInt);
  mine = on_cpu ? mine : mine.to(types[0]);
  auto all = at::empty({group_->getSize()}, mine.options());
  group_->all_gather_single(all, mine)->wait();
  all = all.cpu();
  step_.syncs = false;
  for (size_t rank = 0; rank < step_.active.size(); ++rank) {
    step_.active[rank] = all.data_ptr<int32_t>()[rank] > 0;
    step_.syncs = step_.syncs || all.data_ptr<int32_t>()[rank] > 1;
  }
  if (step_.active_count() > 0) {
    last_ = step_;
  }
  return step_;
}

void Join::finish() {
  if (finished_) {
    return;
  }
  finished_ = true;
  struct Release {
    Join& join;
    ~Release() {
      join.release();
    }
  } const release_at_end{*this};
  while (exchange(/*active=*/false, false).active_count() > 0) {
    TORCH_CHECK(
        !throw_on_early_termination_, "Detected at least one rank that exhausted inputs. Throwing across all ranks.");
    for (Joinable* joinable : joinables_) {
      joinable->follow(step_);
    }
  }
  for (Joinable* joinable : joinables_) {
    joinable->after_join(last_);
  }
}

} // namespace torch::distributed
