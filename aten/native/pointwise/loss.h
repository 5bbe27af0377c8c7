// Losses between an input and a target, element by element, and their derivatives with respect to the input.
// `scale` carries the division of a mean.
#pragma once

#include <aten/native/pointwise/math.h>
#include <c10/core/Scalar.h>
#include <c10/macros/Macros.h>

#include <cmath>
#include <cstdint>

namespace at::native {

struct SquaredDifference {
  template <class T>
  HOST_DEVICE T operator()(T input, T target) const {
    const T d = input - target;
    return d * d;
  }
};

template <class T>
struct SquaredDifferenceGrad {
  explicit SquaredDifferenceGrad(double scale) : scale(c10::Scalar(2 * scale).to<T>()) {}
  HOST_DEVICE T operator()(T grad, T input, T target) const {
    return pointwise::mul(pointwise::mul(scale, pointwise::sub(input, target)), grad);
  }
  T scale;
};

template <class T>
struct SmoothL1 {
  explicit SmoothL1(double beta) : beta(static_cast<T>(beta)) {}
  HOST_DEVICE T operator()(T input, T target) const {
    const T z = std::abs(input - target);
    return z < beta ? T(0.5) * z * z / beta : z - T(0.5) * beta;
  }
  T beta;
};

template <class T>
struct SmoothL1Grad {
  SmoothL1Grad(double beta_, double scale_) : beta(c10::Scalar(beta_).to<T>()), scale(c10::Scalar(scale_).to<T>()) {}
  HOST_DEVICE T operator()(T grad, T input, T target) const {
    if constexpr (pointwise::is_integer<T>) {
      // Signed, so that differences of bytes may be negative; the quotient comes last, or little would be left of it.
      using Wide = std::int64_t;
      const Wide d = pointwise::sub(static_cast<Wide>(input), static_cast<Wide>(target)),
                 reach = static_cast<Wide>(beta);
      const Wide step = static_cast<Wide>(pointwise::mul(scale, grad));
      return static_cast<T>(
          d <= -reach      ? pointwise::sub(Wide(0), step)
              : d >= reach ? step
                           : pointwise::mul(d, step) / reach);
    } else {
      const T d = input - target;
      const T slope = d <= -beta ? T(-1) : d >= beta ? T(1) : d / beta;
      return scale * slope * grad;
    }
  }
  T beta, scale;
};

template <class T>
struct Huber {
  explicit Huber(double delta) : delta(static_cast<T>(delta)) {}
  HOST_DEVICE T operator()(T input, T target) const {
    const T z = std::abs(input - target);
    return z <= delta ? T(0.5) * z * z : delta * (z - T(0.5) * delta);
  }
  T delta;
};

template <class T>
struct HuberGrad {
  HuberGrad(double delta, double scale) : delta(static_cast<T>(delta)), scale(static_cast<T>(scale)) {}
  HOST_DEVICE T operator()(T grad, T input, T target) const {
    const T d = input - target;
    const T slope = d <= -delta ? -delta : d >= delta ? delta : d;
    return scale * slope * grad;
  }
  T delta, scale;
};

/// Logarithms are held at -100, so that a probability of exactly 0 or 1 gives a finite loss.
struct BinaryCrossEntropy {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T input, T target) const {
    using pointwise::select;
    using std::log;
    using std::log1p;
    const T log_p = log(input), log_q = log1p(-input), least(-100);
    return (target - T(1)) * select(log_q < least, least, log_q) - target * select(log_p < least, least, log_p);
  }
};

template <class T>
struct BinaryCrossEntropyGrad {
  explicit BinaryCrossEntropyGrad(double scale) : scale(static_cast<T>(scale)) {}
  HOST_DEVICE T operator()(T grad, T input, T target) const {
    const T denominator = (T(1) - input) * input, least = T(1e-12);
    return scale * grad * (input - target) / (denominator < least ? least : denominator);
  }
  T scale;
};

/// Cross entropy of sigmoid(input) with positives weighted by `pos_weight`, without forming the sigmoid.
struct BinaryCrossEntropyLogits {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T input, T target, T pos_weight) const {
    using pointwise::select;
    using std::abs;
    using std::exp;
    using std::log1p;
    const T zero(0), one(1);
    const T log_weight = one + (pos_weight - one) * target;
    const T softplus = log1p(exp(-abs(input))) + select(input < zero, -input, zero);
    return (one - target) * input + log_weight * softplus;
  }
};

} // namespace at::native
