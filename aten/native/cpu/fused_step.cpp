// Steps of optimizers: every array of a parameter is read and written once. Formulas as in the documentation of
// torch.optim; the 16-bit types are computed in float and rounded once.

#include <aten/Parallel.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/fused_step.h>
#include <aten/native/cpu/row_lanes.h>

#include <algorithm>
#include <cmath>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

/// Some divisions and square roots an element: worth a thread from here on.
constexpr int64_t kGrain = 16384;

/// A double in all lanes.
template <class V>
VEC_INLINE V lanes(double x) {
  return V(static_cast<typename V::value_type>(x));
}

/// The larger value; NaN when one is NaN.
template <class V>
VEC_INLINE V max_or_nan(V a, V b) {
  return select(a != a, a, select(a > b, a, b));
}

/// The gradient that the formulas start from: of what is minimized, with the penalty's.
template <class V>
VEC_INLINE V gradient(V g, V p, bool maximize, double weight_decay) {
  if (maximize) g = -g;
  return weight_decay != 0 ? g + lanes<V>(weight_decay) * p : g;
}

template <class V>
VEC_INLINE V sign(V x) {
  return select(x > V(0), V(1), select(x < V(0), V(-1), x));
}

// Update<Settings>: constants of a step, and what it does to one run of elements. x holds a run of each array. Settings are
// copied: what a reference leads to would be read, and asked, again after each store.
template <class Settings, class V>
struct Update;

template <class V>
struct Update<SgdStep, V> {
  static constexpr int kArrays = 3;
  const SgdStep s;
  V lr = lanes<V>(s.lr), momentum = lanes<V>(s.momentum), share = lanes<V>(1 - s.dampening);

  VEC_INLINE void operator()(V (&x)[kArrays]) const {
    V g = gradient(x[1], x[0], s.maximize, s.weight_decay);
    if (s.momentum != 0) {
      x[2] = s.first ? g : momentum * x[2] + share * g;
      g = s.nesterov ? g + momentum * x[2] : x[2];
    }
    x[0] = x[0] - lr * g;
  }
};

template <class V>
struct Update<AdamStep, V> {
  static constexpr int kArrays = 5;
  const AdamStep s;
  V keep = lanes<V>(1 - s.lr * s.weight_decay), share1 = lanes<V>(1 - s.beta1), beta2 = lanes<V>(s.beta2);
  V share2 = lanes<V>(1 - s.beta2), eps = lanes<V>(s.eps);
  V size = lanes<V>(s.lr / (1 - std::pow(s.beta1, s.step)));
  V scale = lanes<V>(1 / std::sqrt(1 - std::pow(s.beta2, s.step)));

  VEC_INLINE void operator()(V (&x)[kArrays]) const {
    if (s.decoupled && s.weight_decay != 0) x[0] = x[0] * keep;
    const V g = gradient(x[1], x[0], s.maximize, s.decoupled ? 0 : s.weight_decay);
    x[2] = x[2] + share1 * (g - x[2]);
    x[3] = beta2 * x[3] + share2 * (g * g);
    V square = x[3];
    if (s.amsgrad) square = x[4] = max_or_nan(x[4], x[3]);
    x[0] = x[0] - size * x[2] / (sqrt(square) * scale + eps);
  }
};

template <class V>
struct Update<AdagradStep, V> {
  static constexpr int kArrays = 3;
  const AdagradStep s;
  V lr = lanes<V>(s.lr), eps = lanes<V>(s.eps);

  VEC_INLINE void operator()(V (&x)[kArrays]) const {
    const V g = gradient(x[1], x[0], s.maximize, s.weight_decay);
    x[2] = x[2] + g * g;
    x[0] = x[0] - lr * g / (sqrt(x[2]) + eps);
  }
};

template <class V>
struct Update<AdadeltaStep, V> {
  static constexpr int kArrays = 4;
  const AdadeltaStep s;
  V lr = lanes<V>(s.lr), rho = lanes<V>(s.rho), share = lanes<V>(1 - s.rho), eps = lanes<V>(s.eps);

  VEC_INLINE void operator()(V (&x)[kArrays]) const {
    const V g = gradient(x[1], x[0], s.maximize, s.weight_decay);
    x[2] = rho * x[2] + share * (g * g);
    const V delta = sqrt(x[3] + eps) / sqrt(x[2] + eps) * g;
    x[3] = rho * x[3] + share * (delta * delta);
    x[0] = x[0] - lr * delta;
  }
};

template <class V>
struct Update<AdamaxStep, V> {
  static constexpr int kArrays = 4;
  const AdamaxStep s;
  V share1 = lanes<V>(1 - s.beta1), beta2 = lanes<V>(s.beta2), eps = lanes<V>(s.eps);
  V size = lanes<V>(s.lr / (1 - std::pow(s.beta1, s.step)));

  VEC_INLINE void operator()(V (&x)[kArrays]) const {
    const V g = gradient(x[1], x[0], s.maximize, s.weight_decay);
    x[2] = x[2] + share1 * (g - x[2]);
    x[3] = max_or_nan(beta2 * x[3], vec::abs(g) + eps);
    x[0] = x[0] - size * x[2] / x[3];
  }
};

template <class V>
struct Update<NadamStep, V> {
  static constexpr int kArrays = 4;
  const NadamStep s;
  V keep = lanes<V>(1 - s.lr * s.weight_decay), share1 = lanes<V>(1 - s.beta1), beta2 = lanes<V>(s.beta2);
  V share2 = lanes<V>(1 - s.beta2), eps = lanes<V>(s.eps);
  V scale = lanes<V>(1 / (1 - std::pow(s.beta2, s.step)));
  V of_gradient = lanes<V>(s.lr * (1 - s.mu) / (1 - s.mu_product));
  V of_average = lanes<V>(s.lr * s.mu_next / (1 - s.mu_product * s.mu_next));

  VEC_INLINE void operator()(V (&x)[kArrays]) const {
    if (s.decoupled && s.weight_decay != 0) x[0] = x[0] * keep;
    const V g = gradient(x[1], x[0], s.maximize, s.decoupled ? 0 : s.weight_decay);
    x[2] = x[2] + share1 * (g - x[2]);
    x[3] = beta2 * x[3] + share2 * (g * g);
    x[0] = x[0] - (of_gradient * g + of_average * x[2]) / (sqrt(x[3] * scale) + eps);
  }
};

template <class V>
struct Update<RadamStep, V> {
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

  VEC_INLINE void operator()(V (&x)[kArrays]) const {
    if (s.decoupled && s.weight_decay != 0) x[0] = x[0] * keep;
    const V g = gradient(x[1], x[0], s.maximize, s.decoupled ? 0 : s.weight_decay);
    x[2] = x[2] + share1 * (g - x[2]);
    x[3] = beta2 * x[3] + share2 * (g * g);
    x[0] = x[0] - (rectified ? rectified_size * x[2] / (sqrt(x[3]) + eps) : size * x[2]);
  }
};

template <class V>
struct Update<RmspropStep, V> {
  static constexpr int kArrays = 5;
  const RmspropStep s;
  bool centered;
  V lr = lanes<V>(s.lr), alpha = lanes<V>(s.alpha), share = lanes<V>(1 - s.alpha), eps = lanes<V>(s.eps);
  V momentum = lanes<V>(s.momentum);

  VEC_INLINE void operator()(V (&x)[kArrays]) const {
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
struct Update<RpropStep, V> {
  static constexpr int kArrays = 4;
  const RpropStep s;
  V eta_minus = lanes<V>(s.eta_minus), eta_plus = lanes<V>(s.eta_plus);
  V step_min = lanes<V>(s.step_min), step_max = lanes<V>(s.step_max);

  VEC_INLINE void operator()(V (&x)[kArrays]) const {
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
struct Update<AsgdStep, V> {
  static constexpr int kArrays = 3;
  const AsgdStep s;
  V keep = lanes<V>(1 - s.lambd * s.eta), eta = lanes<V>(s.eta), mu = lanes<V>(s.mu);

  VEC_INLINE void operator()(V (&x)[kArrays]) const {
    const V g = gradient(x[1], x[0], s.maximize, s.weight_decay);
    x[0] = x[0] * keep - eta * g;
    x[2] = s.mu == 1 ? x[0] : x[2] + (x[0] - x[2]) * mu;
  }
};

/// Elements [begin, end) of the arrays.
template <class T, class Settings>
void step_part(const StepArrays& arrays, const Settings& settings, int64_t begin, int64_t end) {
  using V = typename Lanes<T>::V;
  using Rule = Update<Settings, V>;
  const Rule rule = [&] {
    if constexpr (std::is_same_v<Settings, RmspropStep>) {
      return Rule{settings, arrays.data[3] != nullptr};
    } else {
      return Rule{settings};
    }
  }();
  T* data[Rule::kArrays];
  for (int k = 0; k < Rule::kArrays; ++k) data[k] = arrays.data[k] ? static_cast<T*>(arrays.data[k]) + begin : nullptr;
  for_lanes<T>(end - begin, [&](int64_t i, auto n) {
    V x[Rule::kArrays];
    for (int k = 0; k < Rule::kArrays; ++k) x[k] = data[k] ? load_run<T>(data[k] + i, n) : V(0);
    rule(x);
    for (int k = 0; k < Rule::kArrays; ++k) {
      if (k != 1 && data[k]) store_run<T>(x[k], data[k] + i, n);
    }
  });
}

} // namespace

/// One step for all parameters of a list; threads share its elements, whatever parameters they belong to.
template <class Settings>
void fused_step(c10::ArrayRef<StepArrays> list, c10::ArrayRef<Settings> settings) {
  int64_t total = 0;
  for (const StepArrays& arrays : list) total += arrays.numel;
  at::parallel_for(0, total, kGrain, [&](int64_t begin, int64_t end) {
    int64_t first = 0;
    for (const StepArrays& arrays : list) {
      if (first >= end) return;
      const int64_t from = std::max(begin - first, int64_t{0}), to = std::min(end - first, arrays.numel);
      first += arrays.numel;
      if (from >= to) continue;
      dispatch("fused optimizer step", arrays.dtype, kFloating, [&]<class T> {
        step_part<T>(arrays, settings[arrays.settings], from, to);
      });
    }
  });
}

template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<SgdStep>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<AdamStep>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<AdagradStep>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<AdadeltaStep>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<AdamaxStep>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<NadamStep>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<RadamStep>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<RmspropStep>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<RpropStep>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<AsgdStep>);

} // namespace CPU_CAPABILITY
} // namespace at::native
