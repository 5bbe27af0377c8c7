// What a step of an optimizer does to one element of each array, or to a run of elements held in a vector. Formulas as
// in the documentation of torch.optim. Shared by the CPU and CUDA.
#pragma once

#include <aten/native/support/fused_step.h>
#include <c10/macros/Macros.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

// The CPU compiles these once for each instruction set: the copies must not be taken for one.
namespace at::native {
#ifdef CPU_CAPABILITY
inline namespace CPU_CAPABILITY {
#endif
namespace step_rules {

using std::sqrt;

// The words of vectors for single elements.
template <class R, std::enable_if_t<std::is_floating_point_v<R>, int> = 0>
HOST_DEVICE C10_ALWAYS_INLINE R select(bool condition, R a, R b) {
  return condition ? a : b;
}
template <class V>
HOST_DEVICE C10_ALWAYS_INLINE V magnitude(V x) {
  return select(x < V(0), -x, x);
}

/// A double in all lanes.
template <class V>
HOST_DEVICE C10_ALWAYS_INLINE V lanes(double x) {
  if constexpr (std::is_floating_point_v<V>) {
    return static_cast<V>(x);
  } else {
    return V(static_cast<typename V::value_type>(x));
  }
}

/// a * b + c. Vectors have one of their own, which is fused where the processor can.
template <class R, std::enable_if_t<std::is_floating_point_v<R>, int> = 0>
HOST_DEVICE C10_ALWAYS_INLINE R multiply_add(R a, R b, R c) {
  return a * b + c;
}

/// The larger value; NaN when one is NaN.
template <class V>
HOST_DEVICE C10_ALWAYS_INLINE V max_or_nan(V a, V b) {
  return select(a != a, a, select(a > b, a, b));
}

/// The gradient that the formulas start from: of what is minimized, with the penalty's.
template <class V>
HOST_DEVICE C10_ALWAYS_INLINE V gradient(V g, V p, bool maximize, double weight_decay) {
  if (maximize) {
    g = -g;
  }
  return weight_decay != 0 ? g + lanes<V>(weight_decay) * p : g;
}

template <class V>
HOST_DEVICE C10_ALWAYS_INLINE V sign(V x) {
  return select(x > V(0), V(1), select(x < V(0), V(-1), x));
}

// StepRule<Settings>: constants of a step, and what it does to one run of elements. x holds a run of each array.
// Settings are copied: what a reference leads to would be read, and asked, again after each store.
template <class Settings, class V>
struct StepRule;

template <class V>
struct StepRule<SgdStep, V> {
  static constexpr int kArrays = 3;
  const SgdStep s;
  V lr = lanes<V>(s.lr), momentum = lanes<V>(s.momentum), share = lanes<V>(1 - s.dampening);

  HOST_DEVICE C10_ALWAYS_INLINE void operator()(V (&x)[kArrays]) const {
    V g = gradient(x[1], x[0], s.maximize, s.weight_decay);
    if (s.momentum != 0) {
      x[2] = s.first ? g : momentum * x[2] + share * g;
      g = s.nesterov ? g + momentum * x[2] : x[2];
    }
    x[0] = x[0] - lr * g;
  }
};

template <class V>
struct StepRule<AdamStep, V> {
  static constexpr int kArrays = 5;
  const AdamStep s;
  V keep = lanes<V>(1 - s.lr * s.weight_decay), share1 = lanes<V>(1 - s.beta1), beta2 = lanes<V>(s.beta2);
  V share2 = lanes<V>(1 - s.beta2), eps = lanes<V>(s.eps);
  V size = lanes<V>(s.lr / (1 - std::pow(s.beta1, s.step)));
  V correction = lanes<V>(std::sqrt(1 - std::pow(s.beta2, s.step)));

  HOST_DEVICE C10_ALWAYS_INLINE void operator()(V (&x)[kArrays]) const {
    if (s.decoupled && s.weight_decay != 0) {
      x[0] = x[0] * keep;
    }
    const V g = gradient(x[1], x[0], s.maximize, s.decoupled ? 0 : s.weight_decay);
    x[2] = x[2] + share1 * (g - x[2]);
    x[3] = multiply_add(share2 * g, g, beta2 * x[3]);
    V square = x[3];
    if (s.amsgrad) {
      square = x[4] = max_or_nan(x[4], x[3]);
    }
    x[0] = x[0] - size * x[2] / (sqrt(square) / correction + eps);
  }
};

template <class V>
struct StepRule<AdagradStep, V> {
  static constexpr int kArrays = 3;
  const AdagradStep s;
  V lr = lanes<V>(s.lr / (1 + (s.step - 1) * s.lr_decay)), eps = lanes<V>(s.eps);

  HOST_DEVICE C10_ALWAYS_INLINE void operator()(V (&x)[kArrays]) const {
    const V g = gradient(x[1], x[0], s.maximize, s.weight_decay);
    x[2] = x[2] + g * g;
    x[0] = x[0] - lr * g / (sqrt(x[2]) + eps);
  }
};

template <class V>
struct StepRule<AdadeltaStep, V> {
  static constexpr int kArrays = 4;
  const AdadeltaStep s;
  V lr = lanes<V>(s.lr), rho = lanes<V>(s.rho), share = lanes<V>(1 - s.rho), eps = lanes<V>(s.eps);

  HOST_DEVICE C10_ALWAYS_INLINE void operator()(V (&x)[kArrays]) const {
    const V g = gradient(x[1], x[0], s.maximize, s.weight_decay);
    x[2] = rho * x[2] + share * (g * g);
    const V delta = sqrt(x[3] + eps) / sqrt(x[2] + eps) * g;
    x[3] = rho * x[3] + share * (delta * delta);
    x[0] = x[0] - lr * delta;
  }
};

template <class V>
struct StepRule<AdamaxStep, V> {
  static constexpr int kArrays = 4;
  const AdamaxStep s;
  V share1 = lanes<V>(1 - s.beta1), beta2 = lanes<V>(s.beta2), eps = lanes<V>(s.eps);
  V size = lanes<V>(s.lr / (1 - std::pow(s.beta1, s.step)));

  HOST_DEVICE C10_ALWAYS_INLINE void operator()(V (&x)[kArrays]) const {
    const V g = gradient(x[1], x[0], s.maximize, s.weight_decay);
    x[2] = x[2] + share1 * (g - x[2]);
    x[3] = max_or_nan(beta2 * x[3], magnitude(g) + eps);
    x[0] = x[0] - size * x[2] / x[3];
  }
};

template <class V>
struct StepRule<NadamStep, V> {
  static constexpr int kArrays = 4;
  const NadamStep s;
  V keep = lanes<V>(1 - s.lr * s.weight_decay), share1 = lanes<V>(1 - s.beta1), beta2 = lanes<V>(s.beta2);
  V share2 = lanes<V>(1 - s.beta2), eps = lanes<V>(s.eps);
  V scale = lanes<V>(1 / (1 - std::pow(s.beta2, s.step)));
  V of_gradient = lanes<V>(s.lr * (1 - s.mu) / (1 - s.mu_product));
  V of_average = lanes<V>(s.lr * s.mu_next / (1 - s.mu_product * s.mu_next));

  HOST_DEVICE C10_ALWAYS_INLINE void operator()(V (&x)[kArrays]) const {
    if (s.decoupled && s.weight_decay != 0) {
      x[0] = x[0] * keep;
    }
    const V g = gradient(x[1], x[0], s.maximize, s.decoupled ? 0 : s.weight_decay);
    x[2] = x[2] + share1 * (g - x[2]);
    x[3] = beta2 * x[3] + share2 * (g * g);
    x[0] = x[0] - (of_gradient * g + of_average * x[2]) / (sqrt(x[3] * scale) + eps);
  }
};

template <class V>
struct StepRule<RadamStep, V> {
  static constexpr int kArrays = 4;
  const RadamStep s;
  V keep = lanes<V>(1 - s.lr * s.weight_decay), share1 = lanes<V>(1 - s.beta1), beta2 = lanes<V>(s.beta2);
  V share2 = lanes<V>(1 - s.beta2), eps = lanes<V>(s.eps);
  double correction1 = 1 - std::pow(s.beta1, s.step), correction2 = 1 - std::pow(s.beta2, s.step);
  // Length of the average that is approximated, at infinity and now.
  double rho_inf = 2 / (1 - s.beta2) - 1;
  double rho = rho_inf - 2 * s.step * (1 - correction2) / correction2;
  bool rectified = rho > 5;
  V size = lanes<V>(s.lr / correction1);
  V rectified_size = lanes<V>(
      s.lr / correction1 * std::sqrt(correction2) *
      std::sqrt(std::max(0.0, (rho - 4) * (rho - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho))));

  HOST_DEVICE C10_ALWAYS_INLINE void operator()(V (&x)[kArrays]) const {
    if (s.decoupled && s.weight_decay != 0) {
      x[0] = x[0] * keep;
    }
    const V g = gradient(x[1], x[0], s.maximize, s.decoupled ? 0 : s.weight_decay);
    x[2] = x[2] + share1 * (g - x[2]);
    x[3] = beta2 * x[3] + share2 * (g * g);
    x[0] = x[0] - (rectified ? rectified_size * x[2] / (sqrt(x[3]) + eps) : size * x[2]);
  }
};

template <class V>
struct StepRule<RmspropStep, V> {
  static constexpr int kArrays = 5;
  const RmspropStep s;
  bool centered;
  V lr = lanes<V>(s.lr), alpha = lanes<V>(s.alpha), share = lanes<V>(1 - s.alpha), eps = lanes<V>(s.eps);
  V momentum = lanes<V>(s.momentum);

  HOST_DEVICE C10_ALWAYS_INLINE void operator()(V (&x)[kArrays]) const {
    const V g = gradient(x[1], x[0], s.maximize, s.weight_decay);
    x[2] = alpha * x[2] + share * (g * g);
    V square = x[2];
    if (centered) {
      x[3] = x[3] + share * (g - x[3]);
      square = square - x[3] * x[3];
    }
    const V step = g / (sqrt(square) + eps);
    x[4] = momentum * x[4] + step;
    x[0] = x[0] - lr * (s.momentum > 0 ? x[4] : step);
  }
};

template <class V>
struct StepRule<RpropStep, V> {
  static constexpr int kArrays = 4;
  const RpropStep s;
  V eta_minus = lanes<V>(s.eta_minus), eta_plus = lanes<V>(s.eta_plus);
  V step_min = lanes<V>(s.step_min), step_max = lanes<V>(s.step_max);

  HOST_DEVICE C10_ALWAYS_INLINE void operator()(V (&x)[kArrays]) const {
    V g = s.maximize ? -x[1] : x[1];
    const V turn = g * x[2];
    const V factor = select(turn > V(0), eta_plus, select(turn < V(0), eta_minus, select(turn == V(0), V(1), turn)));
    const V size = x[3] * factor;
    // In this order a NaN stays.
    x[3] = select(size < step_min, step_min, select(size > step_max, step_max, size));
    g = select(turn < V(0), V(0), g);
    x[0] = x[0] - sign(g) * x[3];
    x[2] = g;
  }
};

template <class V>
struct StepRule<AsgdStep, V> {
  static constexpr int kArrays = 3;
  const AsgdStep s;
  V keep = lanes<V>(1 - s.lambd * s.eta), eta = lanes<V>(s.eta), mu = lanes<V>(s.mu);

  HOST_DEVICE C10_ALWAYS_INLINE void operator()(V (&x)[kArrays]) const {
    const V g = gradient(x[1], x[0], s.maximize, s.weight_decay);
    x[0] = x[0] * keep - eta * g;
    x[2] = s.mu == 1 ? x[0] : x[2] + (x[0] - x[2]) * mu;
  }
};

} // namespace step_rules

using step_rules::StepRule;

/// The rule for one parameter, with its constants worked out.
template <class V, class Settings>
StepRule<Settings, V> step_rule(const Settings& settings, const StepArrays& arrays) {
  if constexpr (std::is_same_v<Settings, RmspropStep>) {
    return {settings, arrays.data[3] != nullptr};
  } else {
    return {settings};
  }
}

#ifdef CPU_CAPABILITY
} // namespace CPU_CAPABILITY
#endif
} // namespace at::native
