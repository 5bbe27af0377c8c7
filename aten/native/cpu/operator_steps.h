// Steps of optimizers with the values that libtorch's optimizers give, which make them by one operator after the other
// and so round each result to the parameter's dtype. Here the operators of a run of elements follow each other in
// registers.
#pragma once

#include <aten/native/cpu/row_lanes.h>
#include <aten/native/support/fused_step_rules.h>
#include <aten/native/vec/math.h>

#include <cmath>
#include <type_traits>

namespace at::vec {
inline namespace CPU_CAPABILITY {

/// a * b + c, fused where the processor can, as the kernels of add and addcmul are.
template <class T, int N>
VEC_INLINE Vec<T, N> multiply_add(Vec<T, N> a, Vec<T, N> b, Vec<T, N> c) {
#ifdef __FMA__
  return detail::fused(a, b, c);
#else
  return a * b + c;
#endif
}

} // namespace CPU_CAPABILITY
} // namespace at::vec

namespace at::native {
inline namespace CPU_CAPABILITY {

/// What the operators of such steps compute, on a run of elements of dtype T.
template <class T>
struct StepOperators {
  using R = typename Lanes<T>::R;
  using V = typename Lanes<T>::V;

  /// A factor of mul_ or add_, which take the dtype of self before they multiply.
  static V factor(double x) {
    return V(static_cast<R>(static_cast<T>(x)));
  }
  /// Numbers of all other operators, which compute in R.
  static V number(double x) {
    return V(static_cast<R>(x));
  }

  /// The result of an operator as the next one reads it.
  static VEC_INLINE V rounded(V v) {
    if constexpr (std::is_same_v<T, R>) {
      asm("" : "+x"(v.v)); // or the compiler would fuse a product with the sum that it is used in
      return v;
    } else {
      T elements[Lanes<T>::kSize];
      Lanes<T>::store(v, elements);
      return Lanes<T>::load(elements);
    }
  }

  /// self + alpha * other
  static VEC_INLINE V add(V self, V other, V alpha) {
    return rounded(multiply_add(other, alpha, self));
  }
  static VEC_INLINE V mul(V self, V factor) {
    return rounded(self * factor);
  }
  /// self + value * a * b
  static VEC_INLINE V addcmul(V self, V a, V b, V value) {
    return rounded(multiply_add(value * a, b, self));
  }
  /// self + value * a / b
  static VEC_INLINE V addcdiv(V self, V a, V b, V value) {
    return rounded(self + value * a / b);
  }

  /// The gradient that the formulas start from: of what is minimized, with the penalty's.
  static VEC_INLINE V gradient(V g, V p, bool maximize, double weight_decay) {
    if (maximize) {
      g = -g;
    }
    return weight_decay != 0 ? add(g, p, factor(weight_decay)) : g;
  }
};

/// OperatorStep<Settings, T>: constants of a step, and what it does to one run of elements of each array.
template <class Settings, class T>
struct OperatorStep;

template <class T>
struct OperatorStep<SgdStep, T> : StepOperators<T> {
  using Op = StepOperators<T>;
  using V = typename Op::V;
  static constexpr int kArrays = 3;
  const SgdStep s;
  V size = Op::factor(-s.lr), momentum = Op::factor(s.momentum), share = Op::factor(1 - s.dampening);

  OperatorStep(const SgdStep& settings, const StepArrays&) : s(settings) {}

  VEC_INLINE void operator()(V (&x)[kArrays]) const {
    V g = Op::gradient(x[1], x[0], s.maximize, s.weight_decay);
    if (s.momentum != 0) {
      x[2] = s.first ? g : Op::add(Op::mul(x[2], momentum), g, share);
      g = s.nesterov ? Op::add(g, x[2], momentum) : x[2];
    }
    x[0] = Op::add(x[0], g, size);
  }
};

template <class T>
struct OperatorStep<AdamStep, T> : StepOperators<T> {
  using Op = StepOperators<T>;
  using V = typename Op::V;
  static constexpr int kArrays = 5;
  const AdamStep s;
  V keep = Op::factor(kept(s)), beta1 = Op::factor(s.beta1), beta2 = Op::factor(s.beta2);
  V share1 = Op::factor(1 - s.beta1), share2 = Op::number(1 - s.beta2), eps = Op::number(s.eps);
  V size = Op::number(-(s.lr / (1 - std::pow(s.beta1, s.step))));
  V correction = Op::number(std::sqrt(1 - std::pow(s.beta2, s.step)));

  OperatorStep(const AdamStep& settings, const StepArrays&) : s(settings) {}

  /// What weight decay leaves of a parameter, its product rounded.
  static double kept(const AdamStep& s) {
    const volatile double lost = s.lr * s.weight_decay;
    return 1 - lost;
  }

  VEC_INLINE void operator()(V (&x)[kArrays]) const {
    if (s.decoupled && s.weight_decay != 0) {
      x[0] = Op::mul(x[0], keep);
    }
    const V g = Op::gradient(x[1], x[0], s.maximize, s.decoupled ? 0 : s.weight_decay);
    x[2] = Op::add(Op::mul(x[2], beta1), g, share1);
    x[3] = Op::addcmul(Op::mul(x[3], beta2), g, g, share2);
    V square = x[3];
    if (s.amsgrad) {
      square = x[4] = step_rules::max_or_nan(x[4], x[3]);
    }
    const V root = Op::rounded(Op::rounded(sqrt(square)) / correction);
    x[0] = Op::addcdiv(x[0], x[2], Op::rounded(root + eps), size);
  }
};

template <class T>
struct OperatorStep<AdagradStep, T> : StepOperators<T> {
  using Op = StepOperators<T>;
  using V = typename Op::V;
  static constexpr int kArrays = 3;
  const AdagradStep s;
  V size = Op::number(-(s.lr / (1 + (s.step - 1) * s.lr_decay))), eps = Op::number(s.eps);

  OperatorStep(const AdagradStep& settings, const StepArrays&) : s(settings) {}

  VEC_INLINE void operator()(V (&x)[kArrays]) const {
    const V g = Op::gradient(x[1], x[0], s.maximize, s.weight_decay);
    x[2] = Op::addcmul(x[2], g, g, V(1));
    x[0] = Op::addcdiv(x[0], g, Op::rounded(Op::rounded(sqrt(x[2])) + eps), size);
  }
};

template <class T>
struct OperatorStep<RmspropStep, T> : StepOperators<T> {
  using Op = StepOperators<T>;
  using V = typename Op::V;
  static constexpr int kArrays = 5;
  const RmspropStep s;
  bool centered;
  V size = Op::number(-s.lr), alpha = Op::factor(s.alpha), share = Op::number(1 - s.alpha), eps = Op::number(s.eps);
  V momentum = Op::factor(s.momentum), add_size = Op::factor(-s.lr), add_share = Op::factor(1 - s.alpha);

  OperatorStep(const RmspropStep& settings, const StepArrays& arrays)
      : s(settings), centered(arrays.data[3] != nullptr) {}

  VEC_INLINE void operator()(V (&x)[kArrays]) const {
    const V g = Op::gradient(x[1], x[0], s.maximize, s.weight_decay);
    x[2] = Op::addcmul(Op::mul(x[2], alpha), g, g, share);
    V square = x[2];
    if (centered) {
      x[3] = Op::add(Op::mul(x[3], alpha), g, add_share);
      square = Op::addcmul(square, x[3], x[3], V(-1));
    }
    const V root = Op::rounded(Op::rounded(sqrt(square)) + eps);
    if (s.momentum > 0) {
      x[4] = Op::addcdiv(Op::mul(x[4], momentum), g, root, V(1));
      x[0] = Op::add(x[0], x[4], add_size);
    } else {
      x[0] = Op::addcdiv(x[0], g, root, size);
    }
  }
};

} // namespace CPU_CAPABILITY
} // namespace at::native
