// Circular and hyperbolic functions.
#pragma once

#include <aten/native/pointwise/math.h>

namespace at::native {

struct Sin {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::sin;
    return sin(x);
  }
};

struct Cos {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::cos;
    return cos(x);
  }
};

struct Tanh {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::tanh;
    return tanh(x);
  }
};

struct Tan {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::tan;
    return tan(x);
  }
};

struct Asin {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::asin;
    return asin(x);
  }
};

struct Acos {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::acos;
    return acos(x);
  }
};

struct Atan {
  static constexpr bool kVec = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::atan;
    return atan(x);
  }
};

struct Sinh {
  static constexpr bool kVecFloat = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::sinh;
    return sinh(x);
  }
};

struct Cosh {
  static constexpr bool kVecFloat = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::cosh;
    return cosh(x);
  }
};

struct Asinh {
  static constexpr bool kVecFloat = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::asinh;
    return asinh(x);
  }
};

struct Acosh {
  static constexpr bool kVecFloat = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::acosh;
    return acosh(x);
  }
};

struct Atanh {
  static constexpr bool kVecFloat = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    using std::atanh;
    return atanh(x);
  }
};

struct Atan2 {
  static constexpr bool kVecFloat = true;
  template <class T>
  HOST_DEVICE T operator()(T y, T x) const {
    using std::atan2;
    return atan2(y, x);
  }
};

/// sin(pi x) / (pi x)
struct Sinc {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    if (x == T(0)) {
      return T(1);
    }
    const T product = T(3.14159265358979323846) * x;
    return std::sin(product) / product;
  }
};

struct Deg2rad {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return x * T(0.017453292519943295769);
  }
};

struct Rad2deg {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return x * T(57.295779513082320877);
  }
};

} // namespace at::native
