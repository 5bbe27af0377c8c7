// Arithmetic, bits, minimum and maximum, fused forms of at::vec::Vectorized. Included by vec_base.h.
#pragma once

#include <csrc/compat/aten/cpu/vec/vec_base.h>

namespace at::vec {
inline namespace CPU_CAPABILITY {
inline namespace AT_VEC_ISA {

// Wherever a function takes two or three vectors, some of them may be plain numbers. Keeps a vector's dtype, so that
// `v * 2` needs no cast.
namespace lanes {
template <class T>
struct same {
  using type = T;
};
template <class T>
using number = typename same<T>::type;
} // namespace lanes

#define AT_VEC_WITH_NUMBERS_2(name)                       \
  template <class T>                                      \
  auto name(const Vectorized<T>& a, lanes::number<T> b) { \
    return name(a, Vectorized<T>(b));                     \
  }                                                       \
  template <class T>                                      \
  auto name(lanes::number<T> a, const Vectorized<T>& b) { \
    return name(Vectorized<T>(a), b);                     \
  }
#define AT_VEC_WITH_NUMBERS_3(name)                                               \
  template <class T>                                                              \
  auto name(const Vectorized<T>& a, const Vectorized<T>& b, lanes::number<T> c) { \
    return name(a, b, Vectorized<T>(c));                                          \
  }                                                                               \
  template <class T>                                                              \
  auto name(const Vectorized<T>& a, lanes::number<T> b, const Vectorized<T>& c) { \
    return name(a, Vectorized<T>(b), c);                                          \
  }                                                                               \
  template <class T>                                                              \
  auto name(const Vectorized<T>& a, lanes::number<T> b, lanes::number<T> c) {     \
    return name(a, Vectorized<T>(b), Vectorized<T>(c));                           \
  }                                                                               \
  template <class T>                                                              \
  auto name(lanes::number<T> a, const Vectorized<T>& b, const Vectorized<T>& c) { \
    return name(Vectorized<T>(a), b, c);                                          \
  }                                                                               \
  template <class T>                                                              \
  auto name(lanes::number<T> a, const Vectorized<T>& b, lanes::number<T> c) {     \
    return name(Vectorized<T>(a), b, Vectorized<T>(c));                           \
  }                                                                               \
  template <class T>                                                              \
  auto name(lanes::number<T> a, lanes::number<T> b, const Vectorized<T>& c) {     \
    return name(Vectorized<T>(a), Vectorized<T>(b), c);                           \
  }

template <class T>
Vectorized<T> operator-(const Vectorized<T>& a) {
  return a.neg();
}
template <class T>
Vectorized<T> operator+(const Vectorized<T>& a, const Vectorized<T>& b) {
  return Vectorized<T>::make([&](int i) { return lanes::wrapping(a[i], b[i], [](auto x, auto y) { return x + y; }); });
}
template <class T>
Vectorized<T> operator-(const Vectorized<T>& a, const Vectorized<T>& b) {
  return Vectorized<T>::make([&](int i) { return lanes::wrapping(a[i], b[i], [](auto x, auto y) { return x - y; }); });
}
template <class T>
Vectorized<T> operator*(const Vectorized<T>& a, const Vectorized<T>& b) {
  return Vectorized<T>::make([&](int i) { return lanes::wrapping(a[i], b[i], [](auto x, auto y) { return x * y; }); });
}
/// Of integers towards 0; a divisor of 0 is undefined, as in C++.
template <class T>
Vectorized<T> operator/(const Vectorized<T>& a, const Vectorized<T>& b) {
  return Vectorized<T>::make([&](int i) { return static_cast<T>(a[i] / b[i]); });
}
template <class T, std::enable_if_t<!is_floating_point_v<T>, int> = 0>
Vectorized<T> operator%(const Vectorized<T>& a, const Vectorized<T>& b) {
  return a - a / b * b;
}
template <class T>
Vectorized<T> operator||(const Vectorized<T>& a, const Vectorized<T>& b) {
  return Vectorized<T>::make([&](int i) { return static_cast<T>(a[i] != T(0) || b[i] != T(0)); });
}
template <class T>
Vectorized<T> operator&&(const Vectorized<T>& a, const Vectorized<T>& b) {
  return Vectorized<T>::make([&](int i) { return static_cast<T>(a[i] != T(0) && b[i] != T(0)); });
}

namespace lanes {
template <class T, class Op>
Vectorized<T> bitwise(const Vectorized<T>& a, const Vectorized<T>& b, Op op) {
  int64_t x[VECTOR_WIDTH / 8];
  int64_t y[VECTOR_WIDTH / 8];
  a.store(x);
  b.store(y);
  for (int i = 0; i < VECTOR_WIDTH / 8; ++i) {
    x[i] = op(x[i], y[i]);
  }
  return Vectorized<T>::loadu(x);
}
} // namespace lanes

// Of the bits of the lanes, whatever their dtype.
template <class T>
Vectorized<T> operator&(const Vectorized<T>& a, const Vectorized<T>& b) {
  return lanes::bitwise(a, b, [](int64_t x, int64_t y) { return x & y; });
}
template <class T>
Vectorized<T> operator|(const Vectorized<T>& a, const Vectorized<T>& b) {
  return lanes::bitwise(a, b, [](int64_t x, int64_t y) { return x | y; });
}
template <class T>
Vectorized<T> operator^(const Vectorized<T>& a, const Vectorized<T>& b) {
  return lanes::bitwise(a, b, [](int64_t x, int64_t y) { return x ^ y; });
}
template <class T>
Vectorized<T> operator~(const Vectorized<T>& a) {
  return lanes::bitwise(a, a, [](int64_t x, int64_t) { return ~x; });
}
/// A shift by a negative number, or by as many bits as there are, gives 0 ...
template <class T>
Vectorized<T> operator<<(const Vectorized<T>& a, const Vectorized<T>& b) {
  constexpr int kBits = sizeof(T) * 8;
  return Vectorized<T>::make([&](int i) {
    using U = std::make_unsigned_t<T>;
    return static_cast<U>(b[i]) >= kBits ? T(0) : static_cast<T>(static_cast<U>(a[i]) << static_cast<U>(b[i]));
  });
}
/// ... and to the right what is left when all bits but the sign are shifted out.
template <class T>
Vectorized<T> operator>>(const Vectorized<T>& a, const Vectorized<T>& b) {
  constexpr int kBits = sizeof(T) * 8;
  return Vectorized<T>::make([&](int i) {
    using U = std::make_unsigned_t<T>;
    if (static_cast<U>(b[i]) >= kBits) {
      return std::is_signed_v<T> && a[i] < T(0) ? static_cast<T>(-1) : T(0);
    }
    return static_cast<T>(a[i] >> b[i]);
  });
}

namespace lanes {
template <class T>
bool less(const T& a, const T& b) {
  if constexpr (c10::is_complex<T>::value) {
    return std::abs(a) < std::abs(b);
  } else {
    return a < b;
  }
}
} // namespace lanes

/// NaN where either is; complex numbers by their absolute value.
template <class T>
Vectorized<T> maximum(const Vectorized<T>& a, const Vectorized<T>& b) {
  return Vectorized<T>::make([&](int i) { return lanes::is_nan(a[i]) || lanes::less(b[i], a[i]) ? a[i] : b[i]; });
}
template <class T>
Vectorized<T> minimum(const Vectorized<T>& a, const Vectorized<T>& b) {
  return Vectorized<T>::make([&](int i) { return lanes::is_nan(a[i]) || lanes::less(a[i], b[i]) ? a[i] : b[i]; });
}
/// NaN stays; where low is above high the result is high.
template <class T>
Vectorized<T> clamp(const Vectorized<T>& a, const Vectorized<T>& low, const Vectorized<T>& high) {
  return clamp_max(clamp_min(a, low), high);
}
template <class T>
Vectorized<T> clamp_max(const Vectorized<T>& a, const Vectorized<T>& high) {
  return Vectorized<T>::make([&](int i) { return lanes::less(high[i], a[i]) ? high[i] : a[i]; });
}
template <class T>
Vectorized<T> clamp_min(const Vectorized<T>& a, const Vectorized<T>& low) {
  return Vectorized<T>::make([&](int i) { return lanes::less(a[i], low[i]) ? low[i] : a[i]; });
}

/// a * b + c, rounded once or twice as the compiler chooses.
template <class T>
Vectorized<T> fmadd(const Vectorized<T>& a, const Vectorized<T>& b, const Vectorized<T>& c) {
  return a * b + c;
}
template <class T>
Vectorized<T> fmsub(const Vectorized<T>& a, const Vectorized<T>& b, const Vectorized<T>& c) {
  return a * b - c;
}
template <class T>
Vectorized<T> fnmadd(const Vectorized<T>& a, const Vectorized<T>& b, const Vectorized<T>& c) {
  return -(a * b) + c;
}
template <class T>
Vectorized<T> fnmsub(const Vectorized<T>& a, const Vectorized<T>& b, const Vectorized<T>& c) {
  return -(a * b) - c;
}

AT_VEC_WITH_NUMBERS_2(operator+)
AT_VEC_WITH_NUMBERS_2(operator-)
AT_VEC_WITH_NUMBERS_2(operator*)
AT_VEC_WITH_NUMBERS_2(operator/)
AT_VEC_WITH_NUMBERS_2(operator%)
AT_VEC_WITH_NUMBERS_2(operator||)
AT_VEC_WITH_NUMBERS_2(operator&&)
AT_VEC_WITH_NUMBERS_2(operator&)
AT_VEC_WITH_NUMBERS_2(operator|)
AT_VEC_WITH_NUMBERS_2(operator^)
AT_VEC_WITH_NUMBERS_2(maximum)
AT_VEC_WITH_NUMBERS_2(minimum)
AT_VEC_WITH_NUMBERS_2(clamp_max)
AT_VEC_WITH_NUMBERS_2(clamp_min)
AT_VEC_WITH_NUMBERS_3(clamp)
AT_VEC_WITH_NUMBERS_3(fmadd)
AT_VEC_WITH_NUMBERS_3(fmsub)
AT_VEC_WITH_NUMBERS_3(fnmadd)
AT_VEC_WITH_NUMBERS_3(fnmsub)
#undef AT_VEC_WITH_NUMBERS_2
#undef AT_VEC_WITH_NUMBERS_3

template <class T>
Vectorized<T>& operator+=(Vectorized<T>& a, const Vectorized<T>& b) {
  return a = a + b;
}
template <class T>
Vectorized<T>& operator-=(Vectorized<T>& a, const Vectorized<T>& b) {
  return a = a - b;
}
template <class T>
Vectorized<T>& operator*=(Vectorized<T>& a, const Vectorized<T>& b) {
  return a = a * b;
}
template <class T>
Vectorized<T>& operator/=(Vectorized<T>& a, const Vectorized<T>& b) {
  return a = a / b;
}
template <class T>
Vectorized<T>& operator%=(Vectorized<T>& a, const Vectorized<T>& b) {
  return a = a % b;
}
template <class T>
Vectorized<T>& operator<<=(Vectorized<T>& a, const Vectorized<T>& b) {
  return a = a << b;
}
template <class T>
Vectorized<T>& operator>>=(Vectorized<T>& a, const Vectorized<T>& b) {
  return a = a >> b;
}

/// vec[a, b, ...]
template <class T>
std::ostream& operator<<(std::ostream& out, const Vectorized<T>& v) {
  out << "vec[";
  for (int i = 0; i < Vectorized<T>::size(); ++i) {
    out << (i == 0 ? "" : ", ") << v[i];
  }
  return out << ']';
}

} // namespace AT_VEC_ISA
} // namespace CPU_CAPABILITY
} // namespace at::vec
