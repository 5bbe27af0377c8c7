// StepLR: the learning rate times gamma every so many steps.
#pragma once

#include <csrc/optim/schedulers/lr_scheduler.h>

namespace torch::optim {

/// As in libtorch, whose first step is that of epoch 0: the rate changes one step later than that of Python's StepLR.
class TORCH_API StepLR : public LRScheduler {
 public:
  /// Multiplies by gamma every step_size steps. Throws ValueError if step_size is 0.
  StepLR(Optimizer& optimizer, const unsigned step_size, const double gamma = 0.1);

 private:
  std::vector<double> get_lrs() override;

  const unsigned step_size_;
  const double gamma_;
};

} // namespace torch::optim
