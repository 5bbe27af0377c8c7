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
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return std::tan(x);
  }
};

struct Asin {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return std::asin(x);
  }
};

struct Acos {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return std::acos(x);
  }
};

struct Atan {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return std::atan(x);
  }
};

struct Sinh {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return std::sinh(x);
  }
};

struct Cosh {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return std::cosh(x);
  }
};

struct Asinh {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return std::asinh(x);
  }
};

struct Acosh {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return std::acosh(x);
  }
};

struct Atanh {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return std::atanh(x);
  }
};

struct Atan2 {
  template <class T>
  HOST_DEVICE T operator()(T y, T x) const {
    return std::atan2(y, x);
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
