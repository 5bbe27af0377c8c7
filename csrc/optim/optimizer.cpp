#include <csrc/optim/optimizer.h>

#include <aten/Functions.h>
#include <aten/core/ivalue.h>
#include <c10/core/GradMode.h>
#include <csrc/optim/fields.h>

#include <algorithm>

template class c10::Indirect<std::tuple<double, double>>;

namespace torch::optim {

// ---- bases of options and states
// -----------------------------------------------------------------------------------------

namespace {

[[noreturn]] void must_override(const char* method, const char* base, const char* cloneable) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, method, " has not been implemented for torch::optim::", base, ". Subclass torch::optim::", cloneable,
      "<YourClass> or override `", method, "` in your class.");
}

} // namespace

std::unique_ptr<OptimizerParamState> OptimizerParamState::clone() const {
  must_override("clone", "OptimizerParamState", "OptimizerCloneableParamState");
}
void OptimizerParamState::serialize(serialize::InputArchive&) {
  must_override("serialize", "OptimizerParamState", "OptimizerCloneableParamState");
}
void OptimizerParamState::serialize(serialize::OutputArchive&) const {
  must_override("serialize", "OptimizerParamState", "OptimizerCloneableParamState");
}
c10::IValue OptimizerParamState::state_dict() const {
  must_override("state_dict", "OptimizerParamState", "OptimizerCloneableParamState");
}
void OptimizerParamState::load_state_dict(const c10::IValue&, const Tensor&) {
  must_override("load_state_dict", "OptimizerParamState", "OptimizerCloneableParamState");
}

std::unique_ptr<OptimizerOptions> OptimizerOptions::clone() const {
  must_override("clone", "OptimizerOptions", "OptimizerCloneableOptions");
}
void OptimizerOptions::serialize(serialize::InputArchive&) {
  must_override("serialize", "OptimizerOptions", "OptimizerCloneableOptions");
}
void OptimizerOptions::serialize(serialize::OutputArchive&) const {
  must_override("serialize", "OptimizerOptions", "OptimizerCloneableOptions");
}
double OptimizerOptions::get_lr() const {
  must_override("get_lr", "OptimizerOptions", "OptimizerCloneableOptions");
}
void OptimizerOptions::set_lr(const double) {
  must_override("set_lr", "OptimizerOptions", "OptimizerCloneableOptions");
}
std::optional<double> OptimizerOptions::get_momentum() const {
  return std::nullopt;
}
void OptimizerOptions::set_momentum(double) {
  TORCH_CHECK_VALUE(false, "optimizer must support momentum or beta1 with `cycle_momentum` option enabled");
}
void OptimizerOptions::inherit(const OptimizerOptions&) {}
c10::IValue OptimizerOptions::state_dict() const {
  must_override("state_dict", "OptimizerOptions", "OptimizerCloneableOptions");
}
void OptimizerOptions::load_state_dict(const c10::IValue&) {
  must_override("load_state_dict", "OptimizerOptions", "OptimizerCloneableOptions");
}

// ---- groups
// -------------------------------------------------------------------------------------------------------------

OptimizerParamGroup::OptimizerParamGroup(const OptimizerParamGroup& param_group)
    : params_(param_group.params()),
      options_(param_group.has_options() ? param_group.options().clone() : nullptr),
      initial_lr_(param_group.initial_lr()) {}
OptimizerParamGroup::OptimizerParamGroup(OptimizerParamGroup&&) = default;
OptimizerParamGroup::OptimizerParamGroup(std::vector<Tensor> params) : params_(std::move(params)) {}
OptimizerParamGroup::OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options)
    : params_(std::move(params)), options_(std::move(options)) {}
OptimizerParamGroup& OptimizerParamGroup::operator=(OptimizerParamGroup&&) noexcept = default;
OptimizerParamGroup::~OptimizerParamGroup() = default;

bool OptimizerParamGroup::has_options() const {
  return options_ != nullptr;
}
OptimizerOptions& OptimizerParamGroup::options() {
  TORCH_CHECK(
      has_options(), "OptimizerParamGroup: the group has no options; add it to an optimizer or call set_options");
  return *options_;
}
const OptimizerOptions& OptimizerParamGroup::options() const {
  return const_cast<OptimizerParamGroup*>(this)->options();
}
void OptimizerParamGroup::set_options(std::unique_ptr<OptimizerOptions> options) {
  options_ = std::move(options);
}
std::vector<Tensor>& OptimizerParamGroup::params() {
  return params_;
}
const std::vector<Tensor>& OptimizerParamGroup::params() const {
  return params_;
}

// ---- hooks
// --------------------------------------------------------------------------------------------------------------

struct Optimizer::Hooks {
  struct Hook {
    int64_t id;
    bool before;
    StepHook call;
  };
  std::vector<Hook> list;
  int64_t next_id = 0;
};

void OptimizerHookHandle::remove() {
  if (const auto hooks = std::static_pointer_cast<Optimizer::Hooks>(hooks_.lock())) {
    auto& list = hooks->list;
    list.erase(std::remove_if(list.begin(), list.end(), [&](const auto& hook) { return hook.id == id_; }), list.end());
  }
}

OptimizerHookHandle Optimizer::add_hook(StepHook hook, bool before) {
  TORCH_CHECK(hook, "Optimizer: a step hook must be a function, got an empty one");
  if (!hooks_) {
    hooks_ = std::make_shared<Hooks>();
  }
  OptimizerHookHandle handle;
  handle.hooks_ = hooks_.untyped();
  handle.id_ = hooks_->next_id++;
  hooks_->list.push_back({handle.id_, before, std::move(hook)});
  return handle;
}

OptimizerHookHandle Optimizer::register_step_pre_hook(StepHook hook) {
  return add_hook(std::move(hook), true);
}
OptimizerHookHandle Optimizer::register_step_post_hook(StepHook hook) {
  return add_hook(std::move(hook), false);
}

void Optimizer::call_hooks(bool before) {
  if (!hooks_) {
    return;
  }
  const auto list = hooks_->list; // a hook may remove itself
  for (const auto& hook : list) {
    if (hook.before == before) {
      hook.call(*this);
    }
  }
}

// ---- the optimizer
// ------------------------------------------------------------------------------------------------------

Optimizer::Optimizer(Optimizer&&) = default;
Optimizer& Optimizer::operator=(Optimizer&&) = default;
Optimizer::~Optimizer() = default;

Optimizer::Optimizer(const std::vector<OptimizerParamGroup>& param_groups, std::unique_ptr<OptimizerOptions> defaults)
    : defaults_(std::move(defaults)) {
  for (const OptimizerParamGroup& group : param_groups) {
    add_param_group(group);
  }
}

Optimizer::Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults)
    : Optimizer(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(parameters))}, std::move(defaults)) {}

void Optimizer::add_param_group(const OptimizerParamGroup& param_group) {
  for (const Tensor& param : param_group.params()) {
    TORCH_CHECK(param.defined(), "Optimizer: a parameter is an undefined tensor");
    TORCH_CHECK(
        param.is_leaf(),
        "can't optimize a non-leaf Tensor: its history would not see the steps; optimize the tensors it was "
        "computed from");
  }
  std::vector<const void*> known;
  for (const OptimizerParamGroup& group : param_groups_) {
    for (const Tensor& param : group.params()) {
      known.push_back(param.unsafeGetTensorImpl());
    }
  }
  std::sort(known.begin(), known.end());
  // Tied weights may be given twice, as in libtorch, until there is state of their own.
  for (const Tensor& param : param_group.params()) {
    const void* key = param.unsafeGetTensorImpl();
    if (!std::binary_search(known.begin(), known.end(), key)) {
      continue;
    }
    TORCH_CHECK(
        state_.count(param.unsafeGetTensorImpl()) == 0, "some parameters appear in more than one parameter group");
    TORCH_WARN_ONCE("some parameters appear in more than one parameter group of an optimizer: each group steps them");
  }
  OptimizerParamGroup group(param_group);
  if (!group.has_options()) {
    group.set_options(defaults_->clone());
  } else {
    group.options().inherit(*defaults_);
  }
  param_groups_.push_back(std::move(group));
}

namespace {

// Parameters of the first group, which is made where there is none.
std::vector<Tensor>& first_parameters(Optimizer& optimizer, const OptimizerOptions& defaults) {
  auto& groups = optimizer.param_groups();
  if (groups.empty()) {
    groups.emplace_back(std::vector<Tensor>()).set_options(defaults.clone());
  }
  return groups.front().params();
}

} // namespace

void Optimizer::add_parameters(const std::vector<Tensor>& parameters) {
  TORCH_WARN("Optimizer::add_parameters() will be removed in PyTorch 1.6");
  auto& first = first_parameters(*this, *defaults_);
  first.insert(first.end(), parameters.begin(), parameters.end());
}

void Optimizer::zero_grad(bool set_to_none) {
  for (OptimizerParamGroup& group : param_groups_) {
    for (Tensor& param : group.params()) {
      if (!param.mutable_grad().defined()) {
        continue;
      }
      if (set_to_none) {
        param.mutable_grad().reset();
        continue;
      }
      param.mutable_grad() = param.grad().detach();
      param.mutable_grad().zero_();
    }
  }
}

const std::vector<Tensor>& Optimizer::parameters() const noexcept {
  return const_cast<Optimizer*>(this)->parameters();
}
std::vector<Tensor>& Optimizer::parameters() noexcept {
  TORCH_WARN("Optimizer::parameters() will be removed in PyTorch 1.6");
  return first_parameters(*this, *defaults_);
}

size_t Optimizer::size() const noexcept {
  TORCH_WARN("Optimizer::size() will be removed in PyTorch 1.6");
  size_t count = 0;
  for (const OptimizerParamGroup& group : param_groups_) {
    count += group.params().size();
  }
  return count;
}

OptimizerOptions& Optimizer::defaults() noexcept {
  return *defaults_;
}
const OptimizerOptions& Optimizer::defaults() const noexcept {
  return *defaults_;
}
std::vector<OptimizerParamGroup>& Optimizer::param_groups() noexcept {
  return param_groups_;
}
const std::vector<OptimizerParamGroup>& Optimizer::param_groups() const noexcept {
  return param_groups_;
}
Optimizer::State& Optimizer::state() noexcept {
  return state_;
}
const Optimizer::State& Optimizer::state() const noexcept {
  return state_;
}

std::unique_ptr<OptimizerParamState> Optimizer::make_state() const {
  must_override("make_state", "Optimizer", "Optimizer");
}

bool Optimizer::supports_found_inf() const {
  return false;
}

Tensor Optimizer::run_step(const LossClosure& closure, c10::function_ref<void(OptimizerParamGroup&)> update) {
  call_hooks(true);
  Tensor loss;
  {
    const c10::NoGradGuard no_grad;
    if (closure) {
      const c10::AutoGradMode with_gradients(true);
      loss = closure();
    }
    for (OptimizerParamGroup& group : param_groups_) {
      update(group);
    }
  }
  call_hooks(false);
  return loss;
}

} // namespace torch::optim
