#include <csrc/optim/schedulers/decay_schedulers.h>

#include <algorithm>
#include <cmath>

namespace torch::optim {

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma)
    : EpochScheduler(optimizer), milestones_(std::move(milestones)), gamma_(gamma) {
  std::sort(milestones_.begin(), milestones_.end());
  start();
}

std::vector<double> MultiStepLR::rates() {
  const auto [first, last] = std::equal_range(milestones_.begin(), milestones_.end(), last_epoch_);
  const auto times = static_cast<double>(last - first);
  return times == 0 ? get_current_lrs() : scaled(get_current_lrs(), std::pow(gamma_, times));
}

std::vector<double> MultiStepLR::closed_form() {
  const auto passed = std::upper_bound(milestones_.begin(), milestones_.end(), last_epoch_) - milestones_.begin();
  return scaled(base_lrs_, std::pow(gamma_, static_cast<double>(passed)));
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma) : EpochScheduler(optimizer), gamma_(gamma) {
  start();
}

std::vector<double> ExponentialLR::rates() {
  return initial_ ? get_current_lrs() : scaled(get_current_lrs(), gamma_);
}

std::vector<double> ExponentialLR::closed_form() {
  return scaled(base_lrs_, std::pow(gamma_, static_cast<double>(last_epoch_)));
}

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, int64_t total_iters)
    : EpochScheduler(optimizer), factor_(factor), total_iters_(total_iters) {
  TORCH_CHECK_VALUE(
      factor >= 0 && factor <= 1, "Constant multiplicative factor expected to be between 0 and 1. (ConstantLR got ",
      factor, ")");
  start();
}

std::vector<double> ConstantLR::rates() {
  if (last_epoch_ == 0) {
    return scaled(get_current_lrs(), factor_);
  }
  return last_epoch_ == total_iters_ ? scaled(get_current_lrs(), 1 / factor_) : get_current_lrs();
}

std::vector<double> ConstantLR::closed_form() {
  return scaled(base_lrs_, last_epoch_ >= total_iters_ ? 1 : factor_);
}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor, int64_t total_iters)
    : EpochScheduler(optimizer), start_factor_(start_factor), end_factor_(end_factor), total_iters_(total_iters) {
  TORCH_CHECK_VALUE(
      start_factor > 0 && start_factor <= 1,
      "Starting multiplicative factor expected to be greater than 0 and less or equal to 1. (LinearLR got ",
      start_factor, ")");
  TORCH_CHECK_VALUE(
      end_factor >= 0 && end_factor <= 1, "Ending multiplicative factor expected to be between 0 and 1. (LinearLR got ",
      end_factor, ")");
  start();
}

std::vector<double> LinearLR::rates() {
  if (last_epoch_ == 0) {
    return scaled(get_current_lrs(), start_factor_);
  }
  if (initial_ || last_epoch_ > total_iters_) {
    return get_current_lrs();
  }
  const double change = end_factor_ - start_factor_;
  const double before =
      static_cast<double>(total_iters_) * start_factor_ + static_cast<double>(last_epoch_ - 1) * change;
  return scaled(get_current_lrs(), 1 + change / before);
}

std::vector<double> LinearLR::closed_form() {
  const auto done = static_cast<double>(std::min(total_iters_, last_epoch_)) / static_cast<double>(total_iters_);
  return scaled(base_lrs_, start_factor_ + (end_factor_ - start_factor_) * done);
}

PolynomialLR::PolynomialLR(Optimizer& optimizer, int64_t total_iters, double power)
    : EpochScheduler(optimizer), total_iters_(total_iters), power_(power) {
  TORCH_CHECK_VALUE(total_iters > 0, "PolynomialLR: expected positive total_iters, but got ", total_iters);
  start();
}

std::vector<double> PolynomialLR::rates() {
  if (initial_ || last_epoch_ > total_iters_) {
    return get_current_lrs();
  }
  const auto total = static_cast<double>(total_iters_), epoch = static_cast<double>(last_epoch_);
  return scaled(get_current_lrs(), std::pow((1 - epoch / total) / (1 - (epoch - 1) / total), power_));
}

std::vector<double> PolynomialLR::closed_form() {
  const auto done = static_cast<double>(std::min(total_iters_, last_epoch_)) / static_cast<double>(total_iters_);
  return scaled(base_lrs_, std::pow(1 - done, power_));
}

namespace {

std::vector<LRLambda> for_each_group(std::vector<LRLambda> lambdas, bool one_for_all, const Optimizer& optimizer) {
  const size_t groups = optimizer.param_groups().size();
  if (one_for_all) {
    lambdas.resize(groups, lambdas[0]);
  }
  TORCH_CHECK_VALUE(lambdas.size() == groups, "Expected ", groups, " lr_lambdas, but got ", lambdas.size());
  for (const LRLambda& lambda : lambdas) {
    TORCH_CHECK_VALUE(lambda, "lr_lambda should be a function, but got an empty one");
  }
  return lambdas;
}

std::vector<double> times(std::vector<double> lrs, const std::vector<LRLambda>& lambdas, int64_t epoch) {
  for (size_t i = 0; i < lrs.size() && i < lambdas.size(); ++i) {
    lrs[i] *= lambdas[i](epoch);
  }
  return lrs;
}

} // namespace

LambdaLR::LambdaLR(Optimizer& optimizer, LRLambda lr_lambda)
    : EpochScheduler(optimizer), lambdas_(for_each_group({std::move(lr_lambda)}, true, optimizer)) {
  start();
}
LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<LRLambda> lr_lambdas)
    : EpochScheduler(optimizer), lambdas_(for_each_group(std::move(lr_lambdas), false, optimizer)) {
  start();
}

std::vector<double> LambdaLR::rates() {
  return times(base_lrs_, *lambdas_, last_epoch_);
}

MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, LRLambda lr_lambda)
    : EpochScheduler(optimizer), lambdas_(for_each_group({std::move(lr_lambda)}, true, optimizer)) {
  start();
}
MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, std::vector<LRLambda> lr_lambdas)
    : EpochScheduler(optimizer), lambdas_(for_each_group(std::move(lr_lambdas), false, optimizer)) {
  start();
}

std::vector<double> MultiplicativeLR::rates() {
  return initial_ ? get_current_lrs() : times(get_current_lrs(), *lambdas_, last_epoch_);
}

} // namespace torch::optim
