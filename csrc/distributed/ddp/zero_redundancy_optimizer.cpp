// ZeroRedundancyOptimizer: each rank keeps the optimizer's state of its part of the parameters.
#include <csrc/distributed/ddp/zero_redundancy_optimizer.h>

#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/distributed/ddp/comm.h>
#include <csrc/distributed/session/collectives.h>

#include <algorithm>
#include <numeric>

namespace torch::distributed {

namespace {

using c10::impl::GenericDict;

constexpr size_t kBroadcastBytes = size_t(250) << 20;

c10::IValue entry(const c10::IValue& dict, const char* key) {
  const auto found = dict.toGenericDict().find(std::string(key));
  TORCH_CHECK(
      found != dict.toGenericDict().end(), "ZeroRedundancyOptimizer: the state has no entry '", key,
      "'; it must be that of an optimizer's state_dict()");
  return found->value();
}

// As PyTorch's: in each group the largest first, each to the rank that has least.
std::vector<int> choose_owners(const std::vector<optim::OptimizerParamGroup>& groups, int ranks) {
  std::vector<int> owners;
  std::vector<int64_t> load(static_cast<size_t>(ranks), 0);
  for (const auto& group : groups) {
    const auto& params = group.params();
    std::vector<size_t> order(params.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_sort(
        order.begin(), order.end(), [&](size_t a, size_t b) { return params[a].numel() > params[b].numel(); });
    const size_t first = owners.size();
    owners.resize(first + params.size());
    for (const size_t i : order) {
      const auto least = std::min_element(load.begin(), load.end());
      *least += params[i].numel();
      owners[first + i] = static_cast<int>(least - load.begin());
    }
  }
  return owners;
}

} // namespace

ZeroRedundancyOptimizerBase::ZeroRedundancyOptimizerBase(
    std::vector<optim::OptimizerParamGroup> groups, std::unique_ptr<optim::OptimizerOptions> defaults, GroupPtr group)
    : Optimizer(groups, std::move(defaults)), group_(group ? std::move(group) : default_group()) {
  owners_ = choose_owners(param_groups_, group_->getSize());
  TORCH_CHECK_VALUE(!owners_.empty(), "optimizer got an empty parameter list");
}

void ZeroRedundancyOptimizerBase::make_local(const MakeLocal& make) {
  std::vector<optim::OptimizerParamGroup> mine;
  size_t n = 0;
  for (const auto& group : param_groups_) {
    std::vector<at::Tensor> params;
    for (const auto& param : group.params()) {
      if (owners_[n++] == group_->getRank()) {
        params.push_back(param);
      }
    }
    mine.emplace_back(std::move(params), group.options().clone());
  }
  local_ = make(std::move(mine));
}

at::Tensor ZeroRedundancyOptimizerBase::step(LossClosure closure) {
  return run_step(closure, [this](optim::OptimizerParamGroup& group) {
    if (&group == &param_groups_.back()) {
      step_local();
    }
  });
}

void ZeroRedundancyOptimizerBase::step_local() {
  consolidated_ = c10::IValue();
  send_options();
  local_->step();
  share_parameters();
}

// Schedulers and programs set the options of this optimizer's groups.
void ZeroRedundancyOptimizerBase::send_options() {
  for (size_t g = 0; g < param_groups_.size(); ++g) {
    local_->param_groups()[g].set_options(param_groups_[g].options().clone());
  }
}

void ZeroRedundancyOptimizerBase::share_parameters() {
  std::vector<std::vector<at::Tensor>> by_owner(static_cast<size_t>(group_->getSize()));
  size_t n = 0;
  for (const auto& group : param_groups_) {
    for (const auto& param : group.params()) {
      by_owner[static_cast<size_t>(owners_[n++])].push_back(param);
    }
  }
  for (size_t rank = 0; rank < by_owner.size(); ++rank) {
    if (!by_owner[rank].empty()) {
      c10d::broadcast_coalesced(group_, by_owner[rank], kBroadcastBytes, static_cast<int>(rank));
    }
  }
}

void ZeroRedundancyOptimizerBase::follow(const JoinStep& step) {
  if (step.syncs) {
    const c10::NoGradGuard no_grad;
    step_local();
  }
}

void ZeroRedundancyOptimizerBase::consolidate_state_dict(int to) {
  send_options();
  const auto parts = all_gather_object(local_->state_dict(), group_);
  consolidated_ = to < 0 || to == group_->getRank() ? whole_state(parts) : c10::IValue();
}

// One dictionary of those of all ranks, with the numbers that parameters have in all groups.
c10::IValue ZeroRedundancyOptimizerBase::whole_state(const std::vector<c10::IValue>& parts) const {
  GenericDict state(c10::IntType::get(), c10::AnyType::get());
  std::vector<int64_t> next(parts.size(), 0);
  for (size_t n = 0; n < owners_.size(); ++n) {
    const auto rank = static_cast<size_t>(owners_[n]);
    const auto states = entry(parts[rank], "state").toGenericDict();
    const auto found = states.find(next[rank]++);
    if (found != states.end()) {
      state.insert(static_cast<int64_t>(n), found->value());
    }
  }
  c10::impl::GenericList groups(c10::AnyType::get());
  int64_t n = 0;
  for (const auto& group : param_groups_) {
    c10::List<int64_t> numbers;
    for (size_t i = 0; i < group.params().size(); ++i) {
      numbers.push_back(n++);
    }
    const c10::IValue options = group.options().state_dict();
    if (group.initial_lr()) {
      options.toGenericDict().insert(std::string("initial_lr"), *group.initial_lr());
    }
    options.toGenericDict().insert(std::string("params"), numbers);
    groups.push_back(options);
  }
  GenericDict whole(c10::StringType::get(), c10::AnyType::get());
  whole.insert(std::string("state"), state);
  whole.insert(std::string("param_groups"), groups);
  return whole;
}

c10::IValue ZeroRedundancyOptimizerBase::state_dict() const {
  TORCH_CHECK(
      !consolidated_.isNone(),
      "Optimizer state has not been consolidated on this rank. Please call `consolidate_state_dict(to=",
      group_->getRank(), ")` on all ranks beforehand if you meant to save the global state.");
  return consolidated_;
}

void ZeroRedundancyOptimizerBase::load_state_dict(const c10::IValue& state_dict) {
  const auto groups = entry(state_dict, "param_groups").toListRef();
  TORCH_CHECK_VALUE(
      groups.size() == param_groups_.size(),
      "loaded state dict has a different number of parameter groups: ", groups.size(), ", the optimizer has ",
      param_groups_.size());
  c10::impl::GenericList mine(c10::AnyType::get());
  size_t n = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    const auto numbers = entry(groups[g], "params").toListRef();
    TORCH_CHECK_VALUE(
        numbers.size() == param_groups_[g].params().size(),
        "loaded state dict contains a parameter group that doesn't match the size of optimizer's group: group ", g,
        " has ", numbers.size(), " parameters, the optimizer's ", param_groups_[g].params().size());
    c10::List<int64_t> kept;
    for (const auto& number : numbers) {
      if (owners_[n++] == group_->getRank()) {
        kept.push_back(number.toInt());
      }
    }
    const auto fields = groups[g].toGenericDict().copy();
    fields.insert_or_assign(std::string("params"), kept);
    mine.push_back(fields);
  }
  GenericDict part(c10::StringType::get(), c10::AnyType::get());
  part.insert(std::string("state"), entry(state_dict, "state"));
  part.insert(std::string("param_groups"), mine);
  local_->load_state_dict(part);
  for (size_t g = 0; g < groups.size(); ++g) {
    param_groups_[g].set_options(local_->param_groups()[g].options().clone());
    if (const auto lr = local_->param_groups()[g].initial_lr()) {
      param_groups_[g].set_initial_lr(*lr);
    }
  }
  consolidated_ = c10::IValue();
}

void ZeroRedundancyOptimizerBase::save(serialize::OutputArchive&) const {
  TORCH_CHECK(
      false,
      "ZeroRedundancyOptimizer: an archive would hold a part of the state only; save state_dict() after "
      "consolidate_state_dict()");
}

void ZeroRedundancyOptimizerBase::load(serialize::InputArchive&) {
  TORCH_CHECK(false, "ZeroRedundancyOptimizer: use load_state_dict(), which takes the state of all ranks");
}

} // namespace torch::distributed
