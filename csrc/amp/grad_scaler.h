// torch::amp::GradScaler: losses scaled up, so that gradients in half precision do not vanish.
#pragma once

#include <c10/util/Indirect.h>
#include <csrc/optim/optimizer.h>

#include <optional>
#include <vector>

namespace torch {
namespace amp {

struct TORCH_API GradScalerOptions {
  TORCH_ARG(double, init_scale) = 65536.0;
  /// What the scale is multiplied by after growth_interval steps without infinities, and after one with them.
  TORCH_ARG(double, growth_factor) = 2.0;
  TORCH_ARG(double, backoff_factor) = 0.5;
  TORCH_ARG(int64_t, growth_interval) = 2000;
  /// Without it all functions do nothing but the plain step.
  TORCH_ARG(bool, enabled) = true;
};

/// One iteration:
///     scaler.scale(loss).backward();
///     scaler.unscale_(optimizer);   // only where gradients are looked at, to clip them for instance
///     scaler.step(optimizer);       // skipped where gradients are not finite
///     scaler.update();
class TORCH_API GradScaler {
 public:
  explicit GradScaler(GradScalerOptions options = {});

  Tensor scale(const Tensor& outputs);
  std::vector<Tensor> scale(const std::vector<Tensor>& outputs);

  /// Divides the gradients of the optimizer by the scale. Throws when that was done already since the last update.
  void unscale_(optim::Optimizer& optimizer);

  /// The optimizer's step, unless its gradients have infinities or NaNs. True when it was taken.
  ///
  /// SGD, Adam, AdamW and Adagrad with all parameters on one CUDA device, fused as by default, look there whether to
  /// skip it. The host does not wait and the result is true; a whole iteration can be captured into a graph, once one
  /// has been made before.
  bool step(optim::Optimizer& optimizer);

  /// The scale for the next iteration, by what the steps found, or the given one.
  void update(std::optional<double> new_scale = std::nullopt);

  double get_scale() const;
  double get_growth_factor() const {
    return options_.growth_factor();
  }
  void set_growth_factor(double factor);
  double get_backoff_factor() const {
    return options_.backoff_factor();
  }
  void set_backoff_factor(double factor);
  int64_t get_growth_interval() const {
    return options_.growth_interval();
  }
  void set_growth_interval(int64_t interval) {
    options_.growth_interval(interval);
  }
  bool is_enabled() const {
    return options_.enabled();
  }

  /// {"scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker"} as Python's; empty when not
  /// enabled.
  c10::IValue state_dict() const;
  void load_state_dict(const c10::IValue& state_dict);

 private:
  enum class Stage { Ready, Unscaled, Stepped };
  struct PerOptimizer {
    const optim::Optimizer* optimizer;
    Stage stage = Stage::Ready;
    std::vector<Tensor> found_inf = {}; // for each device of its gradients
  };

  PerOptimizer& state_of(const optim::Optimizer& optimizer);
  void check_scale(const char* function) const;

  GradScalerOptions options_;
  Tensor scale_, growth_tracker_;
  double start_scale_;
  int64_t start_tracker_ = 0;
  c10::Indirect<std::vector<PerOptimizer>> optimizers_;
};

} // namespace amp

namespace cuda::amp {
using torch::amp::GradScaler;
using torch::amp::GradScalerOptions;
} // namespace cuda::amp

} // namespace torch
