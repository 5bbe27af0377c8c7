// Addition to division, signs, extrema.
#pragma once

#include <aten/native/pointwise/math.h>

namespace at::native {

template <class T>
struct AddAlpha {
  static constexpr bool kExactScalars = true;
  static constexpr bool kVecReduced = true;
  explicit AddAlpha(const c10::Scalar& scalar) : alpha(scalar.to<T>()) {}
  template <class V>
  HOST_DEVICE V operator()(V a, V b) const {
    return pointwise::add(a, pointwise::mul(V(alpha), b));
  }
  T alpha;
};

template <class T>
struct SubAlpha {
  static constexpr bool kExactScalars = true;
  static constexpr bool kVecReduced = true;
  explicit SubAlpha(const c10::Scalar& scalar) : alpha(scalar.to<T>()) {}
  template <class V>
  HOST_DEVICE V operator()(V a, V b) const {
    return pointwise::sub(a, pointwise::mul(V(alpha), b));
  }
  T alpha;
};

struct Mul {
  static constexpr bool kExactScalars = true;
  static constexpr bool kVecReduced = true;
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    return pointwise::mul(a, b);
  }
};

struct Div {
  static constexpr bool kExactScalars = true;
  static constexpr bool kVecReduced = true;
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    return a / b;
  }
};

struct DivTrunc {
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      pointwise::check_divisor(b);
      return pointwise::integer_quotient(a, b);
    } else {
      using std::trunc;
      return trunc(a / b);
    }
  }
};

struct DivFloor {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      pointwise::check_divisor(b);
      const T quotient = pointwise::integer_quotient(a, b);
      const bool inexact = pointwise::integer_remainder(a, b) != T(0);
      return inexact && (a < T(0)) != (b < T(0)) ? static_cast<T>(quotient - T(1)) : quotient;
    } else {
      using pointwise::select;
      using std::copysign;
      using std::floor;
      using std::fmod;
      // As Python does it: from the exact remainder, so that (a // b) * b + a % b gives a back.
      const T zero(0), one(1), ratio = a / b;
      const T rest = fmod(a, b);
      const T near = (a - rest) / b;
      const T quotient = select((rest != zero) & ((b < zero) != (rest < zero)), near - one, near);
      const T whole = floor(quotient);
      const T rounded = select(quotient - whole > T(0.5), whole + one, whole);
      return select(b == zero, ratio, select(quotient == zero, copysign(zero, ratio), rounded));
    }
  }
};

struct Remainder {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      pointwise::check_divisor(b);
      const T rest = pointwise::integer_remainder(a, b);
      return rest != T(0) && (rest < T(0)) != (b < T(0)) ? static_cast<T>(rest + b) : rest;
    } else {
      using pointwise::select;
      using std::fmod;
      const T rest = fmod(a, b);
      return select((rest != T(0)) & ((b < T(0)) != (rest < T(0))), rest + b, rest);
    }
  }
};

struct Fmod {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      pointwise::check_divisor(b);
      return pointwise::integer_remainder(a, b);
    } else {
      using std::fmod;
      return fmod(a, b);
    }
  }
};

struct Neg {
  static constexpr bool kVecReduced = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return pointwise::sub(T(0), x);
    } else {
      return -x;
    }
  }
};

struct Square {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return pointwise::mul(x, x);
  }
};

struct Abs {
  static constexpr bool kVecReduced = true;
  template <class T>
  HOST_DEVICE auto operator()(T x) const {
    if constexpr (pointwise::is_complex<T>) {
      return std::abs(x);
    } else if constexpr (std::is_unsigned_v<T>) {
      return x;
    } else if constexpr (std::is_integral_v<T>) {
      return x < T(0) ? pointwise::sub(T(0), x) : x;
    } else {
      using std::abs;
      return abs(x);
    }
  }
};

struct Sign {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_unsigned_v<T>) {
      return static_cast<T>(x != T(0));
    } else if constexpr (std::is_floating_point_v<T>) {
      return x != x ? T(0) : T((x > T(0)) - (x < T(0)));
    } else {
      return static_cast<T>((x > T(0)) - (x < T(0)));
    }
  }
};

struct Sgn {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    if constexpr (pointwise::is_complex<T>) {
      const auto length = std::abs(x);
      return length == 0 ? T(0) : x / length;
    } else {
      return Sign{}(x);
    }
  }
};

struct Signbit {
  template <class T>
  HOST_DEVICE bool operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::signbit(x);
    } else if constexpr (std::is_unsigned_v<T>) {
      return false;
    } else {
      return x < T(0);
    }
  }
};

struct Reciprocal {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return T(1) / x;
  }
};

struct ConjPhysical {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    if constexpr (pointwise::is_complex<T>) {
      return T(x.real(), -x.imag());
    } else {
      return x;
    }
  }
};

// NaN wins in maximum and minimum, loses in fmax and fmin. Of zeros with different signs the first one wins.
// Joined by |, not ||: branches keep compilers from vectorising.
struct Maximum {
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    using pointwise::select;
    return select((b > a) | pointwise::is_nan(b), b, a);
  }
};
struct Minimum {
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    using pointwise::select;
    return select((b < a) | pointwise::is_nan(b), b, a);
  }
};
struct Fmax {
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    using pointwise::select;
    return select((b > a) | pointwise::is_nan(a), b, a);
  }
};
struct Fmin {
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    using pointwise::select;
    return select((b < a) | pointwise::is_nan(a), b, a);
  }
};

// A NaN in the value or a bound gives NaN; where low > high, high wins.
struct Clamp {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T x, T low, T high) const {
    return Minimum{}(Maximum{}(x, low), high);
  }
};

struct Addcmul {
  template <class T>
  HOST_DEVICE T operator()(T self, T a, T b, T value) const {
    return pointwise::add(self, pointwise::mul(pointwise::mul(value, a), b));
  }
};
template <class T>
struct AddcmulValue {
  explicit AddcmulValue(const c10::Scalar& scalar) : value(scalar.to<T>()) {}
  HOST_DEVICE T operator()(T self, T a, T b) const {
    return Addcmul{}(self, a, b, value);
  }
  T value;
};
template <class T>
struct AddcdivValue {
  explicit AddcdivValue(const c10::Scalar& scalar) : value(scalar.to<T>()) {}
  HOST_DEVICE T operator()(T self, T a, T b) const {
    return self + value * a / b;
  }
  T value;
};

// From the nearer end, so that weight 1 gives `end` exactly.
struct Lerp {
  template <class T>
  HOST_DEVICE T operator()(T start, T end, T weight) const {
    bool near_start;
    if constexpr (pointwise::is_complex<T>) {
      near_start = std::abs(weight) < 0.5;
    } else {
      near_start = std::fabs(weight) < T(0.5);
    }
    return near_start ? start + weight * (end - start) : end - (end - start) * (T(1) - weight);
  }
};
template <class T>
struct LerpWeight {
  explicit LerpWeight(const c10::Scalar& scalar) : weight(scalar.to<T>()) {}
  HOST_DEVICE T operator()(T start, T end) const {
    return Lerp{}(start, end, weight);
  }
  T weight;
};

struct Gcd {
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    a = Abs{}(a);
    b = Abs{}(b);
    while (a != T(0)) {
      const T rest = pointwise::integer_remainder(b, a);
      b = a;
      a = rest;
    }
    return b;
  }
};
struct Lcm {
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    const T divisor = Gcd{}(a, b);
    if constexpr (sizeof(T) < sizeof(int)) {
      // The product is cut to the type after its sign is gone.
      return divisor == T(0) ? T(0) : static_cast<T>(Abs{}(pointwise::mul(int{a} / int{divisor}, int{b})));
    } else {
      return divisor == T(0) ? T(0) : Abs{}(pointwise::mul(pointwise::integer_quotient(a, divisor), b));
    }
  }
};

struct Heaviside {
  template <class T>
  HOST_DEVICE T operator()(T x, T at_zero) const {
    return x == T(0) ? at_zero : static_cast<T>(x > T(0));
  }
};

struct Copysign {
  static constexpr bool kVecReduced = true;
  template <class T>
  HOST_DEVICE T operator()(T magnitude, T sign) const {
    using std::copysign;
    return copysign(magnitude, sign);
  }
};

struct Hypot {
  static constexpr bool kVecFloat = true;
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    using std::hypot;
    return hypot(a, b);
  }
};

} // namespace at::native
