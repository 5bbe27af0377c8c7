// Learning rates that follow a simple rule of the epoch. Formulas and names as in Python's torch.optim.lr_scheduler.
#pragma once

#include <c10/util/Indirect.h>
#include <csrc/optim/schedulers/lr_scheduler.h>

#include <functional>
#include <vector>

namespace torch::optim {

/// Times gamma at each of the given epochs; at an epoch that is given twice, times its square.
class TORCH_API MultiStepLR : public EpochScheduler {
 public:
  /// The epochs, in any order, and the factor.
  MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma = 0.1);

 private:
  std::vector<double> rates() override;
  std::vector<double> closed_form() override;
  std::vector<int64_t> milestones_;
  double gamma_;
};

/// Times gamma every epoch.
class TORCH_API ExponentialLR : public EpochScheduler {
 public:
  /// The factor.
  ExponentialLR(Optimizer& optimizer, double gamma);

 private:
  std::vector<double> rates() override;
  std::vector<double> closed_form() override;
  double gamma_;
};

/// Times `factor` for the first `total_iters` epochs.
class TORCH_API ConstantLR : public EpochScheduler {
 public:
  /// Throws ValueError unless factor is in [0, 1].
  ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, int64_t total_iters = 5);

 private:
  std::vector<double> rates() override;
  std::vector<double> closed_form() override;
  double factor_;
  int64_t total_iters_;
};

/// Times a factor that goes from `start_factor` to `end_factor` in `total_iters` epochs.
class TORCH_API LinearLR : public EpochScheduler {
 public:
  /// Throws ValueError unless start_factor is in (0, 1] and end_factor in [0, 1].
  LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1.0, int64_t total_iters = 5);

 private:
  std::vector<double> rates() override;
  std::vector<double> closed_form() override;
  double start_factor_, end_factor_;
  int64_t total_iters_;
};

/// Times (1 - epoch / total_iters)^power.
class TORCH_API PolynomialLR : public EpochScheduler {
 public:
  /// Throws ValueError unless total_iters is positive.
  PolynomialLR(Optimizer& optimizer, int64_t total_iters = 5, double power = 1.0);

 private:
  std::vector<double> rates() override;
  std::vector<double> closed_form() override;
  int64_t total_iters_;
  double power_;
};

/// A factor for an epoch.
using LRLambda = std::function<double(int64_t epoch)>;

/// The initial learning rate times a function of the epoch.
class TORCH_API LambdaLR : public EpochScheduler {
 public:
  /// One function for all groups, or one for each. Throws ValueError for an empty function or another count.
  LambdaLR(Optimizer& optimizer, LRLambda lr_lambda);
  /// One function for each group.
  LambdaLR(Optimizer& optimizer, std::vector<LRLambda> lr_lambdas);

 private:
  std::vector<double> rates() override;
  c10::Indirect<std::vector<LRLambda>> lambdas_;
};

/// The learning rate before times a function of the epoch.
class TORCH_API MultiplicativeLR : public EpochScheduler {
 public:
  /// One function for all groups, or one for each. Throws ValueError for an empty function or another count.
  MultiplicativeLR(Optimizer& optimizer, LRLambda lr_lambda);
  /// One function for each group.
  MultiplicativeLR(Optimizer& optimizer, std::vector<LRLambda> lr_lambdas);

 private:
  std::vector<double> rates() override;
  c10::Indirect<std::vector<LRLambda>> lambdas_;
};

} // namespace torch::optim
