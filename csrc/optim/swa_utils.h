// Averages of parameters over training (Polyak; Izmailov et al. 2018), and the learning rate that goes with them.
#pragma once

#include <csrc/optim/schedulers/lr_scheduler.h>

#include <functional>
#include <string>
#include <vector>

namespace torch::optim::swa_utils {

/// Changes averages in place, given the new parameters and how many are in the averages already.
using MultiAvgFn =
    std::function<void(const std::vector<Tensor>& averaged, const std::vector<Tensor>& current, int64_t num_averaged)>;

/// averaged = decay * averaged + (1 - decay) * current. Throws unless decay is in [0, 1].
TORCH_API MultiAvgFn get_ema_multi_avg_fn(double decay = 0.999);
/// The mean of all.
TORCH_API MultiAvgFn get_swa_multi_avg_fn();

/// Averages of parameters, and of buffers where they are given too:
///     AveragedModel average(net->parameters(), get_ema_multi_avg_fn(0.99));
///     ... optimizer.step(); average.update_parameters(net->parameters());
///     average.copy_to(net->parameters());
class TORCH_API AveragedModel {
 public:
  /// Starts with copies of the parameters. Throws ValueError if the function is empty.
  explicit AveragedModel(const std::vector<Tensor>& parameters, MultiAvgFn multi_avg_fn = get_swa_multi_avg_fn());

  /// Takes the parameters into the averages; the first call copies them. Integers are copied each time.
  void update_parameters(const std::vector<Tensor>& parameters);
  /// Writes the averages to these parameters. Throws unless they have the sizes of the first ones.
  void copy_to(const std::vector<Tensor>& parameters) const;

  /// The averages.
  const std::vector<Tensor>& parameters() const {
    return averaged_;
  }
  /// How many updates are in the averages.
  int64_t n_averaged() const {
    return n_averaged_;
  }

  /// {"n_averaged": Tensor, "averages": [Tensor]}
  c10::IValue state_dict() const;
  /// Takes the averages from such a dictionary. Throws where sizes differ.
  void load_state_dict(const c10::IValue& state_dict);

 private:
  void check(const std::vector<Tensor>& parameters) const;

  std::vector<Tensor> averaged_;
  MultiAvgFn multi_avg_fn_;
  int64_t n_averaged_ = 0;
};

/// Goes from the learning rates that are set to swa_lr in anneal_epochs steps, along "cos" or "linear".
class TORCH_API SWALR : public EpochScheduler {
 public:
  /// Throws ValueError for an unknown strategy and for a negative count of epochs.
  SWALR(
      Optimizer& optimizer, const GroupValues& swa_lr, int64_t anneal_epochs = 10, std::string anneal_strategy = "cos");

 private:
  std::vector<double> rates() override;
  double share(int64_t step) const;

  std::vector<double> swa_lrs_;
  int64_t anneal_epochs_;
  bool cosine_;
};

} // namespace torch::optim::swa_utils
