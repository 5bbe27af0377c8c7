// Steps of optimizers in one pass over memory, behind the operators _fused_*_ in aten/native/cpu/generic/optimizer.cpp.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/macros/Export.h>
#include <c10/util/ArrayRef.h>

#include <cstdint>

namespace at::native {

/// A parameter, its gradient and its state: arrays of `numel` elements, in the order that the settings tell.
struct StepArrays {
  static constexpr int kMost = 5;
  void* data[kMost] = {}; // null where the settings do not need the array
  int64_t numel = 0;
  c10::ScalarType dtype = c10::ScalarType::Undefined;
  size_t settings = 0; // which of the settings belong to it
  const float* step = nullptr; // in the memory of a device, instead of the settings' step
};

/// parameter, gradient, momentum buffer
struct SgdStep {
  double lr, momentum, dampening, weight_decay;
  bool nesterov, maximize, first;
};

/// parameter, gradient, averages of the gradient, of its square, and the largest of the latter (amsgrad)
struct AdamStep {
  double lr, beta1, beta2, weight_decay, eps, step;
  bool decoupled, amsgrad, maximize;
};

/// parameter, gradient, sum of squares
struct AdagradStep {
  double lr, lr_decay, weight_decay, eps, step;
  bool maximize;
};

/// parameter, gradient, averages of the squares of gradients and of changes
struct AdadeltaStep {
  double lr, rho, eps, weight_decay;
  bool maximize;
};

/// parameter, gradient, its average, its largest magnitude
struct AdamaxStep {
  double lr, beta1, beta2, weight_decay, eps, step;
  bool maximize;
};

/// parameter, gradient, averages of the gradient and of its square
struct NadamStep {
  double lr, beta1, beta2, weight_decay, eps, step;
  double mu, mu_next, mu_product; // momentum now and next, product of all up to now
  bool decoupled, maximize;
};

/// parameter, gradient, averages of the gradient and of its square
struct RadamStep {
  double lr, beta1, beta2, weight_decay, eps, step;
  bool decoupled, maximize;
};

/// parameter, gradient, averages of its square and (centered) of itself, momentum buffer
struct RmspropStep {
  double lr, alpha, eps, weight_decay, momentum;
  bool maximize;
};

/// parameter, gradient, gradient before, step sizes
struct RpropStep {
  double eta_minus, eta_plus, step_min, step_max;
  bool maximize;
};

/// parameter, gradient, average of the parameter
struct AsgdStep {
  double lambd, eta, mu, weight_decay;
  bool maximize;
};

/// The settings of a step that gives the values of one operator after the other, each of which rounds its result to the
/// dtype of the parameter, as libtorch's optimizers do it. For SGD, Adam, Adagrad and RMSprop, on the CPU.
template <class Settings>
struct ByOperators {
  Settings settings;
};

/// What loss scaling adds, in the memory of a device; null where it is not used: the gradients' scale, which the step
/// takes off, and a number that is 1 where gradients are not finite and the step is to be skipped. And a learning rate
/// instead of the settings', for SGD, Adam and Adagrad.
struct StepScale {
  const float* scale = nullptr;
  const float* found_inf = nullptr;
  const float* lr = nullptr;
};

/// The steps of the CUDA plugin, which sets them when it is loaded; null before.
template <class Settings>
using DeviceStep = void (*)(c10::ArrayRef<StepArrays>, c10::ArrayRef<Settings>, const StepScale&);
template <class Settings>
TORCH_API DeviceStep<Settings>& cuda_fused_step();

} // namespace at::native
