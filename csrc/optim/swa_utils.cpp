#include <csrc/optim/swa_utils.h>

#include <aten/Functions.h>
#include <c10/core/GradMode.h>
#include <csrc/optim/schedulers/scheduler_state.h>

#include <algorithm>
#include <cmath>

namespace torch::optim::swa_utils {

MultiAvgFn get_ema_multi_avg_fn(double decay) {
  TORCH_CHECK_VALUE(
      decay >= 0 && decay <= 1, "Invalid decay value ", decay, " provided. Please provide a value in [0,1] range.");
  return [decay](const std::vector<Tensor>& averaged, const std::vector<Tensor>& current, int64_t) {
    at::_foreach_lerp_(averaged, current, 1 - decay);
  };
}

MultiAvgFn get_swa_multi_avg_fn() {
  return [](const std::vector<Tensor>& averaged, const std::vector<Tensor>& current, int64_t num_averaged) {
    at::_foreach_lerp_(averaged, current, 1 / static_cast<double>(num_averaged + 1));
  };
}

AveragedModel::AveragedModel(const std::vector<Tensor>& parameters, MultiAvgFn multi_avg_fn)
    : multi_avg_fn_(std::move(multi_avg_fn)) {
  TORCH_CHECK_VALUE(multi_avg_fn_, "AveragedModel: the averaging function is empty");
  for (const Tensor& p : parameters) {
    averaged_.push_back(p.detach().clone());
  }
}

void AveragedModel::check(const std::vector<Tensor>& parameters) const {
  TORCH_CHECK_VALUE(
      parameters.size() == averaged_.size(), "AveragedModel: got ", parameters.size(), " parameters, averages ",
      averaged_.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    TORCH_CHECK_VALUE(
        parameters[i].sizes() == averaged_[i].sizes(), "AveragedModel: parameter ", i, " has sizes ",
        parameters[i].sizes(), ", its average ", averaged_[i].sizes());
  }
}

void AveragedModel::update_parameters(const std::vector<Tensor>& parameters) {
  check(parameters);
  const c10::NoGradGuard no_grad;
  std::vector<Tensor> averaged, current;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor p = parameters[i].detach();
    if (n_averaged_ == 0 || !(c10::isFloatingType(p.scalar_type()) || p.is_complex())) {
      averaged_[i].copy_(p);
      continue;
    }
    averaged.push_back(averaged_[i]);
    current.push_back(p.to(averaged_[i].device(), averaged_[i].scalar_type()));
  }
  if (!averaged.empty()) {
    multi_avg_fn_(averaged, current, n_averaged_);
  }
  ++n_averaged_;
}

void AveragedModel::copy_to(const std::vector<Tensor>& parameters) const {
  check(parameters);
  const c10::NoGradGuard no_grad;
  for (size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].copy_(averaged_[i]);
  }
}

c10::IValue AveragedModel::state_dict() const {
  auto state = detail::string_dict();
  state.insert(std::string("n_averaged"), at::scalar_tensor(n_averaged_, at::kLong));
  state.insert(std::string("averages"), c10::List<Tensor>(averaged_));
  return state;
}

void AveragedModel::load_state_dict(const c10::IValue& state_dict) {
  const detail::SchedulerState state(state_dict);
  std::vector<Tensor> averages;
  if (const c10::IValue* value = state.find("averages")) {
    detail::unpack(*value, averages);
  }
  check(averages);
  const c10::NoGradGuard no_grad;
  for (size_t i = 0; i < averages.size(); ++i) {
    averaged_[i].copy_(averages[i]);
  }
  state.read("n_averaged", n_averaged_);
}

SWALR::SWALR(Optimizer& optimizer, const GroupValues& swa_lr, int64_t anneal_epochs, std::string anneal_strategy)
    : EpochScheduler(optimizer),
      swa_lrs_(swa_lr.of("swa_lr", optimizer)),
      anneal_epochs_(anneal_epochs),
      cosine_(anneal_strategy == "cos") {
  TORCH_CHECK_VALUE(
      cosine_ || anneal_strategy == "linear", "anneal_strategy must be one of 'cos' or 'linear', instead got ",
      anneal_strategy);
  TORCH_CHECK_VALUE(anneal_epochs >= 0, "anneal_epochs must be equal or greater than 0, got ", anneal_epochs);
  start();
}

/// How much of the way to swa_lr is gone after a step.
double SWALR::share(int64_t step) const {
  const double t =
      std::clamp(static_cast<double>(step) / static_cast<double>(std::max<int64_t>(1, anneal_epochs_)), 0.0, 1.0);
  return cosine_ ? (1 - std::cos(3.14159265358979323846 * t)) / 2 : t;
}

// Recursive: the rate of step 0 is found from the current one, which others may have changed.
std::vector<double> SWALR::rates() {
  const int64_t step = anneal_epochs_ == 0 ? std::max<int64_t>(1, epoch_steps_ - 1) : epoch_steps_ - 1;
  const double before = share(step - 1), now = share(step);
  std::vector<double> lrs = get_current_lrs();
  for (size_t i = 0; i < lrs.size(); ++i) {
    const double first = before == 1 ? swa_lrs_[i] : (lrs[i] - before * swa_lrs_[i]) / (1 - before);
    lrs[i] = swa_lrs_[i] * now + first * (1 - now);
  }
  return lrs;
}

} // namespace torch::optim::swa_utils
