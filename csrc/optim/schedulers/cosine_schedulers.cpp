#include <csrc/optim/schedulers/cosine_schedulers.h>

#include <c10/util/safe_numerics.h>
#include <csrc/optim/schedulers/scheduler_state.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace torch::optim {

namespace {

/// A period that 64 bits do not hold does not end.
constexpr int64_t kEndless = std::numeric_limits<int64_t>::max();

/// From each of `highest` (at 0) along half a cosine to `lowest` (at 1).
std::vector<double> along_cosine(const std::vector<double>& highest, double lowest, double at) {
  std::vector<double> result;
  for (const double lr : highest) {
    result.push_back(lowest + (lr - lowest) * (1 + std::cos(std::numbers::pi * at)) / 2);
  }
  return result;
}

} // namespace

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min)
    : EpochScheduler(optimizer), T_max_(T_max), eta_min_(eta_min) {
  TORCH_CHECK_VALUE(T_max > 0, "CosineAnnealingLR: expected positive T_max, but got ", T_max);
  start();
}

// Recursive, so that other schedulers may change the rate in between.
std::vector<double> CosineAnnealingLR::rates() {
  std::vector<double> lrs = get_current_lrs();
  if (initial_) {
    return lrs;
  }
  const auto T_max = static_cast<double>(T_max_), epoch = static_cast<double>(last_epoch_);
  const int64_t before = last_epoch_ - 1;
  if (before % T_max_ == 0 && before / T_max_ % 2 != 0) { // the rate was lowest, and the quotient below is one of zeros
    for (size_t i = 0; i < lrs.size(); ++i) {
      lrs[i] += (base_lrs_[i] - eta_min_) * (1 - std::cos(std::numbers::pi / T_max)) / 2;
    }
    return lrs;
  }
  const double ratio =
      (1 + std::cos(std::numbers::pi * epoch / T_max)) / (1 + std::cos(std::numbers::pi * (epoch - 1) / T_max));
  for (double& lr : lrs) {
    lr = ratio * (lr - eta_min_) + eta_min_;
  }
  return lrs;
}

std::vector<double> CosineAnnealingLR::closed_form() {
  return along_cosine(base_lrs_, eta_min_, static_cast<double>(last_epoch_) / static_cast<double>(T_max_));
}

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(
    Optimizer& optimizer, int64_t T_0, int64_t T_mult, double eta_min)
    : EpochScheduler(optimizer), T_0_(T_0), T_mult_(T_mult), eta_min_(eta_min), T_i_(T_0) {
  TORCH_CHECK_VALUE(T_0 > 0, "Expected positive integer T_0, but got ", T_0);
  TORCH_CHECK_VALUE(T_mult >= 1, "Expected integer T_mult >= 1, but got ", T_mult);
  start();
}

std::vector<double> CosineAnnealingWarmRestarts::rates() {
  if (initial_) {
    T_cur_ = 0;
    T_i_ = T_0_;
  } else {
    T_cur_ += 1;
    if (T_cur_ >= static_cast<double>(T_i_)) {
      T_cur_ = std::fmod(T_cur_, static_cast<double>(T_i_));
      T_i_ = next_period();
    }
  }
  return closed_form();
}

int64_t CosineAnnealingWarmRestarts::next_period() const {
  int64_t period = 0;
  return c10::mul_overflows(T_i_, T_mult_, &period) ? kEndless : period;
}

std::vector<double> CosineAnnealingWarmRestarts::closed_form() {
  return along_cosine(base_lrs_, eta_min_, T_cur_ / static_cast<double>(T_i_));
}

void CosineAnnealingWarmRestarts::step(double epoch) {
  TORCH_CHECK_VALUE(epoch >= 0 && std::isfinite(epoch), "Expected non-negative epoch, but got ", epoch);
  T_i_ = T_0_;
  T_cur_ = epoch;
  if (T_mult_ == 1) {
    T_cur_ = std::fmod(epoch, static_cast<double>(T_0_));
  } else {
    while (T_cur_ >= static_cast<double>(T_i_) && T_i_ < kEndless) {
      T_cur_ -= static_cast<double>(T_i_);
      T_i_ = next_period();
    }
  }
  last_epoch_ = static_cast<int64_t>(std::min(std::floor(epoch), 0x1p62));
  set_optimizer_lrs(closed_form());
}

c10::IValue CosineAnnealingWarmRestarts::state_dict() const {
  const c10::IValue state = EpochScheduler::state_dict();
  state.toGenericDict().insert(std::string("T_cur"), T_cur_);
  state.toGenericDict().insert(std::string("T_i"), T_i_);
  return state;
}

void CosineAnnealingWarmRestarts::load_state_dict(const c10::IValue& state_dict) {
  EpochScheduler::load_state_dict(state_dict);
  const detail::SchedulerState state(state_dict);
  state.read("T_cur", T_cur_);
  state.read("T_i", T_i_);
  TORCH_CHECK_VALUE(T_i_ > 0, "CosineAnnealingWarmRestarts: expected positive T_i in the state, but got ", T_i_);
}

} // namespace torch::optim
