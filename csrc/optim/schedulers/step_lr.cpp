#include <csrc/optim/schedulers/step_lr.h>

namespace torch::optim {

StepLR::StepLR(Optimizer& optimizer, const unsigned step_size, const double gamma)
    : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
  TORCH_CHECK_VALUE(step_size > 0, "Expected positive integer step_size, but got ", step_size, " (StepLR)");
}

std::vector<double> StepLR::get_lrs() {
  std::vector<double> lrs = get_current_lrs();
  if (step_count_ == 0 || step_count_ % step_size_ != 0) {
    return lrs;
  }
  for (double& lr : lrs) {
    lr *= gamma_;
  }
  return lrs;
}

} // namespace torch::optim
