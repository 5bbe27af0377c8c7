// Activation functions of neural networks and their derivatives.
//
// Derivatives take the incoming gradient first, then what the forward kept (its input, or its result where said).
#pragma once

#include <aten/native/pointwise/exponential.h>
#include <aten/native/pointwise/math.h>

#include <string_view>
#include <type_traits>
#include <utility>

namespace at::native {

struct Relu {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return x < T(0) ? T(0) : x; // NaN stays
  }
};

template <class T>
struct Threshold {
  Threshold(const c10::Scalar& threshold_, const c10::Scalar& value_)
      : threshold(threshold_.to<T>()), value(value_.to<T>()) {}
  HOST_DEVICE T operator()(T x) const {
    return x <= threshold ? value : x;
  }
  T threshold, value;
};
template <class T>
struct ThresholdBackward {
  explicit ThresholdBackward(const c10::Scalar& threshold_) : threshold(threshold_.to<T>()) {}
  HOST_DEVICE T operator()(T x, T grad) const {
    return x <= threshold ? T(0) : grad;
  }
  T threshold;
};

struct SigmoidBackward {
  static constexpr bool kVecReduced = true;
  template <class T>
  HOST_DEVICE T operator()(T grad, T result) const {
    if constexpr (pointwise::is_complex<T>) {
      return grad * std::conj((T(1) - result) * result);
    } else {
      return grad * (T(1) - result) * result;
    }
  }
};

struct TanhBackward {
  static constexpr bool kVecReduced = true;
  template <class T>
  HOST_DEVICE T operator()(T grad, T result) const {
    if constexpr (pointwise::is_complex<T>) {
      return grad * std::conj(T(1) - result * result);
    } else {
      return grad * (T(1) - result * result);
    }
  }
};

struct Silu {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return x * pointwise::logistic(x);
  }
};
struct SiluBackward {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T grad, T x) const {
    const T sigmoid = pointwise::logistic(x);
    const T slope = sigmoid * (T(1) + x * (T(1) - sigmoid));
    if constexpr (pointwise::is_complex<T>) {
      return grad * std::conj(slope);
    } else {
      return grad * slope;
    }
  }
};

namespace pointwise {

// tanh(sqrt(2/pi) (x + 0.044715 x^3)), the inner function of gelu's approximation.
inline constexpr double kGeluBeta = 0.79788456080286535588;
inline constexpr double kGeluKappa = 0.044715;

template <class V, class = void>
inline constexpr bool has_normal_pieces = false;
template <class V>
inline constexpr bool has_normal_pieces<V, std::void_t<decltype(normal_cdf_by_pieces(std::declval<V>()))>> = true;

/// P(normal variable < x) for a number or a vector V of type T. Vectors of floats are right to the last bits where a
/// table of pieces fits registers, and else to 3e-7, which is all that a sum with 1/2 keeps: 1/2 and x times a quotient
/// of polynomials of x^2, fitted to 1.5e-8.
template <class T, class V>
HOST_DEVICE V normal_cdf(V x) {
  if constexpr (has_normal_pieces<V>) {
    return normal_cdf_by_pieces(x);
  } else if constexpr (std::is_same_v<T, float> && !std::is_same_v<V, float>) {
    // Beyond these bounds the quotient is past 1/2, so that the ends are 0 and 1. NaN stays: it goes to the right.
    const V held = min(V(5.65f), max(V(-5.65f), x));
    const V t = held * held;
    const V p =
        ((((V(2.32964546e-08f) * t + V(6.31048816e-06f)) * t + V(0.000162223246f)) * t + V(0.00463770711f)) * t +
         V(0.0332031534f)) *
            t +
        V(0.398942275f);
    const V q = ((((V(1.21030612e-06f) * t + V(7.15421588e-05f)) * t + V(0.00184730428f)) * t + V(0.0282746602f)) * t +
                 V(0.249894409f)) *
            t +
        V(1.0f);
    return min(V(1.0f), max(V(0.0f), V(0.5f) + held * p / q));
  } else {
    using std::erf;
    return V(T(0.5)) * (V(T(1)) + erf(x * V(T(0.70710678118654752440))));
  }
}

} // namespace pointwise

template <class T>
struct Gelu {
  static constexpr bool kVec = true;
  explicit Gelu(std::string_view approximate) : with_tanh(approximate == "tanh") {}
  template <class V>
  HOST_DEVICE V operator()(V x) const {
    using std::tanh;
    if (with_tanh) {
      const V inner = V(T(pointwise::kGeluBeta)) * (x + V(T(pointwise::kGeluKappa)) * x * x * x);
      return V(T(0.5)) * x * (V(T(1)) + tanh(inner));
    }
    return x * pointwise::normal_cdf<T>(x);
  }
  bool with_tanh;
};
template <class T>
struct GeluBackward {
  static constexpr bool kVec = true;
  explicit GeluBackward(std::string_view approximate) : with_tanh(approximate == "tanh") {}
  template <class V>
  HOST_DEVICE V operator()(V grad, V x) const {
    using std::exp;
    using std::tanh;
    const V one(T(1)), half(T(0.5));
    if (with_tanh) {
      const V kappa(T(pointwise::kGeluKappa)), beta(T(pointwise::kGeluBeta));
      const V square = x * x;
      const V t = tanh(beta * (x + kappa * x * square));
      const V slope = beta * (one + V(T(3)) * kappa * square);
      return grad * (half * (one + t) + half * x * (one - t * t) * slope);
    }
    const V pdf = exp(-half * x * x) * V(T(0.39894228040143267794));
    return grad * (pointwise::normal_cdf<T>(x) + x * pdf);
  }
  bool with_tanh;
};

template <class T>
struct Hardtanh {
  Hardtanh(const c10::Scalar& low_, const c10::Scalar& high_)
      : low(std::is_unsigned_v<T> && low_.toDouble() < 0 ? T(0) : low_.to<T>()), high(high_.to<T>()) {}
  HOST_DEVICE T operator()(T x) const {
    const T lifted = x < low ? low : x;
    return lifted > high ? high : lifted;
  }
  T low, high;
};
template <class T>
struct HardtanhBackward {
  HardtanhBackward(const c10::Scalar& low_, const c10::Scalar& high_) : low(low_.to<T>()), high(high_.to<T>()) {}
  HOST_DEVICE T operator()(T grad, T x) const {
    return x <= low || x >= high ? T(0) : grad;
  }
  T low, high;
};

struct Hardsigmoid {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    const T lifted = x + T(3) < T(0) ? T(0) : x + T(3);
    return (lifted > T(6) ? T(6) : lifted) / T(6);
  }
};
struct HardsigmoidBackward {
  template <class T>
  HOST_DEVICE T operator()(T grad, T x) const {
    return x > T(-3) && x < T(3) ? grad * T(1.0 / 6.0) : T(0);
  }
};

struct Hardswish {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    const T lifted = x + T(3) < T(0) ? T(0) : x + T(3);
    return x * (lifted > T(6) ? T(6) : lifted) / T(6);
  }
};
struct HardswishBackward {
  template <class T>
  HOST_DEVICE T operator()(T grad, T x) const {
    return x <= T(-3) ? T(0) : x < T(3) ? grad * (x / T(3) + T(0.5)) : grad;
  }
};

template <class T>
struct LeakyRelu {
  explicit LeakyRelu(const c10::Scalar& slope_) : slope(slope_.to<T>()) {}
  HOST_DEVICE T operator()(T x) const {
    return x > T(0) ? x : x * slope;
  }
  T slope;
};
template <class T>
struct LeakyReluBackward {
  LeakyReluBackward(const c10::Scalar& slope_, bool) : slope(slope_.to<T>()) {}
  HOST_DEVICE T operator()(T x, T grad) const {
    return x > T(0) ? grad : grad * slope;
  }
  T slope;
};

template <class T>
struct Elu {
  static constexpr bool kVec = true;
  Elu(const c10::Scalar& alpha, const c10::Scalar& scale_, const c10::Scalar& input_scale_)
      : negative(alpha.to<T>() * scale_.to<T>()), scale(scale_.to<T>()), input_scale(input_scale_.to<T>()) {}
  template <class V>
  HOST_DEVICE V operator()(V x) const {
    using pointwise::select;
    using std::expm1;
    return select(x < V(T(0)), expm1(x * V(input_scale)) * V(negative), x * V(scale));
  }
  T negative, scale, input_scale;
};
/// `kept` is the forward's input, or its result when is_result is set.
template <class T>
struct EluBackward {
  static constexpr bool kVec = true;
  EluBackward(const c10::Scalar& alpha, const c10::Scalar& scale_, const c10::Scalar& input_scale_, bool is_result_)
      : negative(alpha.to<T>() * scale_.to<T>()),
        scale(scale_.to<T>()),
        input_scale(input_scale_.to<T>()),
        is_result(is_result_) {}
  template <class V>
  HOST_DEVICE V operator()(V grad, V kept) const {
    using pointwise::select;
    using std::exp;
    const V below =
        is_result ? V(input_scale) * (kept + V(negative)) : V(input_scale) * V(negative) * exp(kept * V(input_scale));
    return grad * select(kept <= V(T(0)), below, V(scale));
  }
  T negative, scale, input_scale;
  bool is_result;
};

template <class T>
struct Softplus {
  static constexpr bool kVec = true;
  Softplus(const c10::Scalar& beta_, const c10::Scalar& threshold_)
      : beta(beta_.to<T>()), threshold(threshold_.to<T>()) {}
  template <class V>
  HOST_DEVICE V operator()(V x) const {
    using pointwise::select;
    using std::exp;
    using std::log1p;
    const V scaled = x * V(beta);
    return select(scaled > V(threshold), x, log1p(exp(scaled)) / V(beta));
  }
  T beta, threshold;
};
template <class T>
struct SoftplusBackward {
  static constexpr bool kVec = true;
  SoftplusBackward(const c10::Scalar& beta_, const c10::Scalar& threshold_)
      : beta(beta_.to<T>()), threshold(threshold_.to<T>()) {}
  template <class V>
  HOST_DEVICE V operator()(V grad, V x) const {
    using pointwise::select;
    using std::exp;
    const V scaled = x * V(beta);
    const V z = exp(scaled);
    return select(scaled > V(threshold), grad, grad * z / (z + V(T(1))));
  }
  T beta, threshold;
};

struct Mish {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::exp;
    using std::log1p;
    using std::tanh;
    return x * tanh(log1p(exp(x)));
  }
};
struct MishBackward {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T grad, T x) const {
    using std::exp;
    using std::log1p;
    using std::tanh;
    const T sigmoid = pointwise::logistic(x);
    const T t = tanh(log1p(exp(x)));
    return grad * (t + x * sigmoid * (T(1) - t * t));
  }
};

template <class T>
struct Softshrink {
  explicit Softshrink(const c10::Scalar& lambd) : lambda(lambd.to<T>()) {}
  HOST_DEVICE T operator()(T x) const {
    return x > lambda ? x - lambda : x < -lambda ? x + lambda : x * T(0); // NaN stays
  }
  T lambda;
};
template <class T>
struct Hardshrink {
  explicit Hardshrink(const c10::Scalar& lambd) : lambda(lambd.to<T>()) {}
  HOST_DEVICE T operator()(T x) const {
    return x >= -lambda && x <= lambda ? T(0) : x;
  }
  T lambda;
};
template <class T>
struct ShrinkBackward {
  explicit ShrinkBackward(const c10::Scalar& lambd) : lambda(lambd.to<T>()) {}
  HOST_DEVICE T operator()(T grad, T x) const {
    return x >= -lambda && x <= lambda ? T(0) : grad;
  }
  T lambda;
};

struct LogSigmoid {
  static constexpr bool kVec = true;
  template <class V>
  HOST_DEVICE V operator()(V x) const {
    using pointwise::select;
    using std::log1p;
    return select(x < V(0), x, V(0)) - log1p(pointwise::exp_minus_abs(x)); // NaN stays in the second term
  }
};
struct LogSigmoidBuffer {
  static constexpr bool kVec = true;
  template <class V>
  HOST_DEVICE V operator()(V x) const {
    return pointwise::exp_minus_abs(x);
  }
};
struct LogSigmoidBackward {
  template <class T>
  HOST_DEVICE T operator()(T grad, T x, T buffer) const {
    const T share = buffer / (buffer + T(1));
    return grad * (x < T(0) ? T(1) - share : share);
  }
};

struct PreluKernel {
  template <class T>
  HOST_DEVICE T operator()(T x, T weight) const {
    return x > T(0) ? x : weight * x;
  }
};

} // namespace at::native
