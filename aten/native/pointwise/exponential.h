// Exponentials and logarithms.
#pragma once

#include <aten/native/pointwise/math.h>

namespace at::native {

namespace pointwise {

template <class R>
HOST_DEVICE inline c10::complex<R> exp2(const c10::complex<R>& z) {
  return std::exp(z * c10::complex<R>(R(0.693147180559945309417)));
}

/// exp(-|x|): it neither overflows nor loses the small end.
template <class V>
HOST_DEVICE inline V exp_minus_abs(V x) {
  using std::abs;
  using std::exp;
  return exp(-abs(x));
}

/// 1 / (1 + exp(-x)), to the last digits also where it is next to nothing.
template <class V>
HOST_DEVICE inline V logistic(V x) {
  if constexpr (is_complex<V>) {
    return V(1) / (V(1) + std::exp(-x));
  } else {
    const V e = exp_minus_abs(x);
    return select(x < V(0), e, V(1)) / (V(1) + e);
  }
}

} // namespace pointwise

struct Exp {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::exp;
    return exp(x);
  }
};

struct Exp2 {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::exp2;
    using pointwise::exp2;
    return exp2(x);
  }
};

struct Expm1 {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::expm1;
    return expm1(x);
  }
};

struct Log {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::log;
    return log(x);
  }
};

struct Log1p {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::log1p;
    return log1p(x);
  }
};

struct Log2 {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::log2;
    return log2(x);
  }
};

struct Log10 {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::log10;
    return log10(x);
  }
};

struct Sigmoid {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return pointwise::logistic(x);
  }
};

/// log(e^a + e^b) without overflow.
struct Logaddexp {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (pointwise::is_complex<T>) {
      const bool a_first = a.real() > b.real();
      const T high = a_first ? a : b, low = a_first ? b : a;
      if (pointwise::is_inf(high.real()) && high.real() == low.real()) {
        return high.real() < 0 ? high : std::log(std::exp(high) + std::exp(low));
      }
      return high + std::log1p(std::exp(low - high));
    } else {
      using pointwise::select;
      using std::log1p;
      // Equal ones may be infinite; a NaN is in the difference.
      const T more = select(a == b, T(0.69314718055994530942), log1p(pointwise::exp_minus_abs(a - b)));
      return select(a > b, a, b) + more;
    }
  }
};

/// The same in base 2.
struct Logaddexp2 {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    using pointwise::select;
    using std::abs;
    using std::exp2;
    using std::log1p;
    const T more = select(a == b, T(1), log1p(exp2(-abs(a - b))) * T(1.44269504088896340736));
    return select(a > b, a, b) + more;
  }
};

/// x log(y), 0 where x is 0 even if log(y) is infinite.
struct Xlogy {
  template <class T>
  HOST_DEVICE T operator()(T x, T y) const {
    return pointwise::is_nan(y) ? y : x == T(0) ? T(0) : x * std::log(y);
  }
};

struct Xlog1py {
  template <class T>
  HOST_DEVICE T operator()(T x, T y) const {
    return pointwise::is_nan(y) ? y : x == T(0) ? T(0) : x * std::log1p(y);
  }
};

} // namespace at::native
