// Comparisons, tests, and logic of truth values and bits.
#pragma once

#include <aten/native/pointwise/math.h>

namespace at::native {

struct Eq {
  template <class T>
  HOST_DEVICE bool operator()(T a, T b) const {
    return a == b;
  }
};

struct Ne {
  template <class T>
  HOST_DEVICE bool operator()(T a, T b) const {
    return a != b;
  }
};

struct Lt {
  template <class T>
  HOST_DEVICE bool operator()(T a, T b) const {
    return a < b;
  }
};

struct Le {
  template <class T>
  HOST_DEVICE bool operator()(T a, T b) const {
    return a <= b;
  }
};

struct Gt {
  template <class T>
  HOST_DEVICE bool operator()(T a, T b) const {
    return a > b;
  }
};

struct Ge {
  template <class T>
  HOST_DEVICE bool operator()(T a, T b) const {
    return a >= b;
  }
};

struct LogicalAnd {
  template <class T>
  HOST_DEVICE bool operator()(T a, T b) const {
    return (a != T(0)) && (b != T(0));
  }
};

struct LogicalOr {
  template <class T>
  HOST_DEVICE bool operator()(T a, T b) const {
    return (a != T(0)) || (b != T(0));
  }
};

struct LogicalXor {
  template <class T>
  HOST_DEVICE bool operator()(T a, T b) const {
    return (a != T(0)) != (b != T(0));
  }
};

struct LogicalNot {
  template <class T>
  HOST_DEVICE bool operator()(T x) const {
    return x == T(0);
  }
};

struct IsNan {
  template <class T>
  HOST_DEVICE bool operator()(T x) const {
    return pointwise::is_nan(x);
  }
};

struct IsInf {
  template <class T>
  HOST_DEVICE bool operator()(T x) const {
    return pointwise::is_inf(x);
  }
};

struct IsFinite {
  template <class T>
  HOST_DEVICE bool operator()(T x) const {
    return !pointwise::is_inf(x) && !pointwise::is_nan(x);
  }
};

struct IsPosInf {
  template <class T>
  HOST_DEVICE bool operator()(T x) const {
    return pointwise::is_inf(x) && x > T(0);
  }
};

struct IsNegInf {
  template <class T>
  HOST_DEVICE bool operator()(T x) const {
    return pointwise::is_inf(x) && x < T(0);
  }
};

struct BitwiseAnd {
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

struct BitwiseOr {
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

struct BitwiseXor {
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

struct BitwiseNot {
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_same_v<T, bool>) {
      return !x;
    } else {
      return static_cast<T>(~x);
    }
  }
};

// Shifts by a negative amount or by the width and more push all bits out.
struct ShiftLeft {
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    constexpr T kBits = sizeof(T) * 8;
    if (b < T(0) || b >= kBits) {
      return T(0);
    }
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << b);
  }
};

struct ShiftRight {
  template <class T>
  HOST_DEVICE T operator()(T a, T b) const {
    constexpr T kMost = sizeof(T) * 8 - 1;
    if (std::is_unsigned_v<T> && b > kMost) {
      return T(0);
    }
    return static_cast<T>(a >> (b < T(0) || b > kMost ? kMost : b));
  }
};

} // namespace at::native
