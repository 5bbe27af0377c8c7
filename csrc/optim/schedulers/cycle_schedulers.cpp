#include <csrc/optim/schedulers/cycle_schedulers.h>

#include <cmath>
#include <numbers>

namespace torch::optim {
namespace {

void set_momentums(Optimizer& optimizer, const std::vector<double>& momentums) {
  auto& groups = optimizer.param_groups();
  for (size_t i = 0; i < groups.size() && i < momentums.size(); ++i) {
    groups[i].options().set_momentum(momentums[i]);
  }
}

void check_has_momentum(const Optimizer& optimizer) {
  TORCH_CHECK_VALUE(
      optimizer.defaults().get_momentum().has_value(),
      "optimizer must support momentum or beta1 with `cycle_momentum` option enabled");
}

} // namespace

// ---- one cycle
// --------------------------------------------------------------------------------------------------------------

OneCycleLROptions::OneCycleLROptions(GroupValues max_lr, int64_t total_steps)
    : max_lr_(std::move(max_lr)), total_steps_(total_steps) {
  TORCH_CHECK_VALUE(total_steps > 0, "Expected positive integer total_steps, but got ", total_steps);
}

OneCycleLROptions::OneCycleLROptions(GroupValues max_lr, int64_t epochs, int64_t steps_per_epoch)
    : OneCycleLROptions(std::move(max_lr), epochs > 0 && steps_per_epoch > 0 ? epochs * steps_per_epoch : 1) {
  TORCH_CHECK_VALUE(epochs > 0, "Expected positive integer epochs, but got ", epochs);
  TORCH_CHECK_VALUE(steps_per_epoch > 0, "Expected positive integer steps_per_epoch, but got ", steps_per_epoch);
}

OneCycleLR::OneCycleLR(Optimizer& optimizer, const OneCycleLROptions& options)
    : EpochScheduler(optimizer),
      total_steps_(options.total_steps()),
      pct_start_(options.pct_start()),
      cosine_(options.anneal_strategy() == "cos"),
      cycle_momentum_(options.cycle_momentum()),
      three_phase_(options.three_phase()),
      max_lrs_(options.max_lr().of("max_lr", optimizer)) {
  TORCH_CHECK_VALUE(
      pct_start_ >= 0 && pct_start_ <= 1, "Expected float between 0 and 1 pct_start, but got ", pct_start_);
  TORCH_CHECK_VALUE(
      cosine_ || options.anneal_strategy() == "linear",
      "anneal_strategy must be one of 'cos' or 'linear', instead got ", options.anneal_strategy());
  base_lrs_ = scaled(max_lrs_, 1 / options.div_factor());
  min_lrs_ = scaled(base_lrs_, 1 / options.final_div_factor());
  for (size_t i = 0; i < base_lrs_.size(); ++i) {
    optimizer.param_groups()[i].set_initial_lr(base_lrs_[i]);
  }
  base_momentums_ = options.base_momentum().of("base_momentum", optimizer);
  max_momentums_ = options.max_momentum().of("max_momentum", optimizer);
  if (cycle_momentum_) {
    check_has_momentum(optimizer);
  }
  start();
}

std::vector<OneCycleLR::Phase> OneCycleLR::phases() const {
  const auto total = static_cast<double>(total_steps_);
  std::vector<Phase> result{{pct_start_ * total - 1, base_lrs_, max_lrs_, max_momentums_, base_momentums_}};
  if (three_phase_) {
    result.push_back({2 * pct_start_ * total - 2, max_lrs_, base_lrs_, base_momentums_, max_momentums_});
    result.push_back({total - 1, base_lrs_, min_lrs_, max_momentums_, max_momentums_});
  } else {
    result.push_back({total - 1, max_lrs_, min_lrs_, base_momentums_, max_momentums_});
  }
  return result;
}

double OneCycleLR::anneal(double start, double end, double share) const {
  return cosine_ ? end + (start - end) / 2 * (std::cos(std::numbers::pi * share) + 1) : (end - start) * share + start;
}

std::vector<double> OneCycleLR::rates() {
  TORCH_CHECK_VALUE(
      last_epoch_ <= total_steps_, "Tried to step ", last_epoch_, " times. The specified number of total steps is ",
      total_steps_);
  const auto step = static_cast<double>(last_epoch_);
  const auto all = phases();
  double begin = 0;
  size_t current = 0;
  for (; current + 1 < all.size() && step > all[current].end; ++current) {
    begin = all[current].end;
  }
  const Phase& phase = all[current];
  const double share = (step - begin) / (phase.end - begin);
  std::vector<double> lrs, momentums;
  for (size_t i = 0; i < max_lrs_.size(); ++i) {
    lrs.push_back(anneal(phase.start_lr[i], phase.end_lr[i], share));
    momentums.push_back(anneal(phase.start_momentum[i], phase.end_momentum[i], share));
  }
  if (cycle_momentum_) {
    set_momentums(optimizer(), momentums);
  }
  return lrs;
}

// ---- many cycles
// -----------------------------------------------------------------------------------------------------------

CyclicLROptions::CyclicLROptions(GroupValues base_lr, GroupValues max_lr)
    : base_lr_(std::move(base_lr)), max_lr_(std::move(max_lr)) {}

CyclicLR::CyclicLR(Optimizer& optimizer, const CyclicLROptions& options)
    : EpochScheduler(optimizer), options_(options), max_lrs_(options.max_lr().of("max_lr", optimizer)) {
  TORCH_CHECK_VALUE(
      options.scale_fn() || options.mode() == "triangular" || options.mode() == "triangular2" ||
          options.mode() == "exp_range",
      "mode is invalid and scale_fn is None: CyclicLR got mode '", options.mode(),
      "', knows triangular, triangular2, exp_range");
  TORCH_CHECK_VALUE(
      options.step_size_up() > 0 && options.step_size_down().value_or(1) > 0,
      "CyclicLR: expected positive step_size_up and step_size_down, but got ", options.step_size_up(), " and ",
      options.step_size_down().value_or(options.step_size_up()));
  base_lrs_ = options.base_lr().of("base_lr", optimizer);
  base_momentums_ = options.base_momentum().of("base_momentum", optimizer);
  max_momentums_ = options.max_momentum().of("max_momentum", optimizer);
  if (options.cycle_momentum()) {
    check_has_momentum(optimizer);
  }
  start();
}

/// How high a cycle goes, as a share of the first.
double CyclicLR::height(double cycle) const {
  const auto step = static_cast<double>(last_epoch_);
  if (options_.scale_fn()) {
    return options_.scale_fn()(options_.scale_mode() == "cycle" ? cycle : step);
  }
  if (options_.mode() == "triangular2") {
    return 1 / std::pow(2.0, cycle - 1);
  }
  return options_.mode() == "exp_range" ? std::pow(options_.gamma(), step) : 1;
}

std::vector<double> CyclicLR::rates() {
  const auto up = static_cast<double>(options_.step_size_up());
  const double total = up + static_cast<double>(options_.step_size_down().value_or(options_.step_size_up()));
  const double position = static_cast<double>(last_epoch_) / total, cycle = std::floor(1 + position);
  const double x = 1 + position - cycle, rising = up / total;
  const double share = (x <= rising ? x / rising : (x - 1) / (rising - 1)) * height(cycle);
  std::vector<double> lrs, momentums;
  for (size_t i = 0; i < base_lrs_.size(); ++i) {
    lrs.push_back(base_lrs_[i] + (max_lrs_[i] - base_lrs_[i]) * share);
    momentums.push_back(max_momentums_[i] - (max_momentums_[i] - base_momentums_[i]) * share);
  }
  if (options_.cycle_momentum()) {
    set_momentums(optimizer(), momentums);
  }
  return lrs;
}

} // namespace torch::optim
