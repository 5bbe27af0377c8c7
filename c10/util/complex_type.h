#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/Half.h>
#include <c10/util/StringUtil.h>

#include <iosfwd>
#include <limits>
#include <type_traits>
#include <utility>

// The type itself; <c10/util/complex.h> adds std::complex and the functions of mathematics. Half of the library names
// this type and few use its functions, and <complex> costs more to read than everything else here.

// Conversions from and to std::complex are also declared for devices, where only thrust::complex will be used; nvcc
// need not warn about the former.
#if defined(__CUDACC__)
#define C10_NV_EXEC_CHECK_DISABLE _Pragma("nv_exec_check_disable")
#else
#define C10_NV_EXEC_CHECK_DISABLE
#endif

namespace c10 {

template <typename T>
struct complex;

template <typename T>
struct is_complex : std::false_type {};
template <typename T>
struct is_complex<complex<T>> : std::true_type {};

template <typename T>
struct scalar_value_type {
  using type = T;
};
template <typename T>
struct scalar_value_type<complex<T>> {
  using type = T;
};

namespace detail {

/// std::complex and what looks like it (thrust::complex), without naming any of them.
template <class C, class = void>
struct IsForeignComplex : std::false_type {};
template <class C>
struct IsForeignComplex<
    C,
    std::void_t<
        typename C::value_type,
        decltype(std::declval<const C&>().real()),
        decltype(std::declval<const C&>().imag())>>
    : std::bool_constant<std::is_floating_point_v<typename C::value_type> && !is_complex<C>::value> {};

template <typename T>
C10_HOST_DEVICE constexpr T constexpr_abs(T value) {
  return value < T(0) ? -value : value;
}

} // namespace detail

/// A complex number that host and device code share; laid out and aligned as a pair of T.
template <typename T>
struct alignas(sizeof(T) * 2) complex {
  using value_type = T;

  T real_ = T(0);
  T imag_ = T(0);

  constexpr complex() = default;
  C10_HOST_DEVICE constexpr complex(const T& re, const T& im = T()) : real_(re), imag_(im) {}

  /// Widening is implicit, narrowing explicit.
  template <typename U, std::enable_if_t<(sizeof(U) < sizeof(T)), int> = 0>
  C10_HOST_DEVICE constexpr complex(const complex<U>& other)
      : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag())) {}
  template <typename U, std::enable_if_t<(sizeof(U) > sizeof(T)), int> = 0>
  C10_HOST_DEVICE explicit constexpr complex(const complex<U>& other)
      : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag())) {}

  C10_NV_EXEC_CHECK_DISABLE
  template <class C, std::enable_if_t<detail::IsForeignComplex<C>::value, int> = 0>
  C10_HOST_DEVICE explicit constexpr complex(const C& other)
      : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag())) {}
  C10_NV_EXEC_CHECK_DISABLE
  template <class C, std::enable_if_t<detail::IsForeignComplex<C>::value, int> = 0>
  C10_HOST_DEVICE explicit constexpr operator C() const {
    return C(static_cast<typename C::value_type>(real_), static_cast<typename C::value_type>(imag_));
  }

  C10_HOST_DEVICE constexpr complex& operator=(T re) {
    real_ = re;
    imag_ = T(0);
    return *this;
  }
  template <typename U>
  C10_HOST_DEVICE constexpr complex& operator=(const complex<U>& other) {
    real_ = static_cast<T>(other.real());
    imag_ = static_cast<T>(other.imag());
    return *this;
  }
  C10_NV_EXEC_CHECK_DISABLE
  template <class C, std::enable_if_t<detail::IsForeignComplex<C>::value, int> = 0>
  C10_HOST_DEVICE constexpr complex& operator=(const C& other) {
    real_ = static_cast<T>(other.real());
    imag_ = static_cast<T>(other.imag());
    return *this;
  }

  C10_HOST_DEVICE constexpr complex& operator+=(T re) {
    real_ += re;
    return *this;
  }
  C10_HOST_DEVICE constexpr complex& operator-=(T re) {
    real_ -= re;
    return *this;
  }
  C10_HOST_DEVICE constexpr complex& operator*=(T re) {
    real_ *= re;
    imag_ *= re;
    return *this;
  }
  C10_HOST_DEVICE constexpr complex& operator/=(T re) {
    real_ /= re;
    imag_ /= re;
    return *this;
  }
  template <typename U>
  C10_HOST_DEVICE constexpr complex& operator+=(const complex<U>& rhs) {
    real_ += rhs.real();
    imag_ += rhs.imag();
    return *this;
  }
  template <typename U>
  C10_HOST_DEVICE constexpr complex& operator-=(const complex<U>& rhs) {
    real_ -= rhs.real();
    imag_ -= rhs.imag();
    return *this;
  }
  template <typename U>
  C10_HOST_DEVICE constexpr complex& operator*=(const complex<U>& rhs) {
    const T a = real_, b = imag_;
    const T c = static_cast<T>(rhs.real()), d = static_cast<T>(rhs.imag());
    real_ = a * c - b * d;
    imag_ = a * d + b * c;
    return *this;
  }
  /// Smith's method: scales by the larger part of the divisor, so that its square cannot overflow.
  template <typename U>
  C10_HOST_DEVICE __ubsan_ignore_float_divide_by_zero__ constexpr complex& operator/=(const complex<U>& rhs) {
    const T a = real_, b = imag_;
    const T c = static_cast<T>(rhs.real()), d = static_cast<T>(rhs.imag());
    const T abs_c = detail::constexpr_abs(c), abs_d = detail::constexpr_abs(d);
    if (abs_c >= abs_d) {
      if (abs_c == T(0) && abs_d == T(0)) {
        real_ = a / abs_c;
        imag_ = b / abs_d;
      } else {
        const T ratio = d / c;
        const T scale = T(1) / (c + d * ratio);
        real_ = (a + b * ratio) * scale;
        imag_ = (b - a * ratio) * scale;
      }
    } else {
      const T ratio = c / d;
      const T scale = T(1) / (c * ratio + d);
      real_ = (a * ratio + b) * scale;
      imag_ = (b * ratio - a) * scale;
    }
    return *this;
  }

  C10_HOST_DEVICE constexpr T real() const {
    return real_;
  }
  C10_HOST_DEVICE constexpr T imag() const {
    return imag_;
  }
  C10_HOST_DEVICE constexpr void real(T value) {
    real_ = value;
  }
  C10_HOST_DEVICE constexpr void imag(T value) {
    imag_ = value;
  }
  C10_HOST_DEVICE explicit operator bool() const {
    return real_ != T(0) || imag_ != T(0);
  }
};

/// For storage: arithmetic goes through complex<float>.
template <>
struct alignas(4) complex<Half> {
  using value_type = Half;

  Half real_;
  Half imag_;

  complex() = default;
  C10_HOST_DEVICE explicit inline complex(const Half& re, const Half& im) : real_(re), imag_(im) {}
  C10_HOST_DEVICE complex(const Half& re) : real_(re), imag_(0.0f) {}
  C10_HOST_DEVICE complex(const complex<float>& value) : real_(value.real()), imag_(value.imag()) {}
  C10_HOST_DEVICE explicit complex(const complex<double>& value)
      : real_(static_cast<float>(value.real())), imag_(static_cast<float>(value.imag())) {}
  C10_NV_EXEC_CHECK_DISABLE
  template <class C, std::enable_if_t<detail::IsForeignComplex<C>::value, int> = 0>
  C10_HOST_DEVICE explicit complex(const C& other)
      : real_(static_cast<float>(other.real())), imag_(static_cast<float>(other.imag())) {}
  C10_HOST_DEVICE operator complex<float>() const {
    return {static_cast<float>(real_), static_cast<float>(imag_)};
  }

  C10_HOST_DEVICE constexpr Half real() const {
    return real_;
  }
  C10_HOST_DEVICE constexpr Half imag() const {
    return imag_;
  }
  C10_HOST_DEVICE void real(Half value) {
    real_ = value;
  }
  C10_HOST_DEVICE void imag(Half value) {
    imag_ = value;
  }
  C10_HOST_DEVICE explicit operator bool() const {
    return static_cast<float>(real_) != 0.0f || static_cast<float>(imag_) != 0.0f;
  }
  C10_HOST_DEVICE complex& operator+=(const complex& other) {
    return *this = complex<float>(*this) += complex<float>(other);
  }
  C10_HOST_DEVICE complex& operator-=(const complex& other) {
    return *this = complex<float>(*this) -= complex<float>(other);
  }
  C10_HOST_DEVICE complex& operator*=(const complex& other) {
    return *this = complex<float>(*this) *= complex<float>(other);
  }
  C10_HOST_DEVICE complex& operator/=(const complex& other) {
    return *this = complex<float>(*this) /= complex<float>(other);
  }
};

template <typename T>
C10_HOST_DEVICE constexpr complex<T> operator+(const complex<T>& value) {
  return value;
}
template <typename T>
C10_HOST_DEVICE constexpr complex<T> operator-(const complex<T>& value) {
  return complex<T>(-value.real(), -value.imag());
}

#define C10_COMPLEX_OPERATOR_(op, op_assign)                                                                         \
  template <typename T>                                                                                              \
  C10_HOST_DEVICE constexpr complex<T> operator op(const complex<T>& a, const complex<T>& b) {                       \
    complex<T> result = a;                                                                                           \
    return result op_assign b;                                                                                       \
  }                                                                                                                  \
  template <typename T>                                                                                              \
  C10_HOST_DEVICE constexpr complex<T> operator op(const complex<T>& a, const T& b) {                                \
    complex<T> result = a;                                                                                           \
    return result op_assign b;                                                                                       \
  }                                                                                                                  \
  template <typename T>                                                                                              \
  C10_HOST_DEVICE constexpr complex<T> operator op(const T& a, const complex<T>& b) {                                \
    complex<T> result(a);                                                                                            \
    return result op_assign b;                                                                                       \
  }                                                                                                                  \
  template <typename T, typename I, std::enable_if_t<std::is_floating_point_v<T> && std::is_integral_v<I>, int> = 0> \
  C10_HOST_DEVICE constexpr complex<T> operator op(const complex<T>& a, const I& b) {                                \
    complex<T> result = a;                                                                                           \
    return result op_assign static_cast<T>(b);                                                                       \
  }                                                                                                                  \
  template <typename T, typename I, std::enable_if_t<std::is_floating_point_v<T> && std::is_integral_v<I>, int> = 0> \
  C10_HOST_DEVICE constexpr complex<T> operator op(const I& a, const complex<T>& b) {                                \
    complex<T> result(static_cast<T>(a));                                                                            \
    return result op_assign b;                                                                                       \
  }
C10_COMPLEX_OPERATOR_(+, +=)
C10_COMPLEX_OPERATOR_(-, -=)
C10_COMPLEX_OPERATOR_(*, *=)
C10_COMPLEX_OPERATOR_(/, /=)
#undef C10_COMPLEX_OPERATOR_

template <typename T>
C10_HOST_DEVICE constexpr bool operator==(const complex<T>& a, const complex<T>& b) {
  return a.real() == b.real() && a.imag() == b.imag();
}
template <typename T>
C10_HOST_DEVICE constexpr bool operator==(const complex<T>& a, const T& b) {
  return a.real() == b && a.imag() == T(0);
}
template <typename T>
C10_HOST_DEVICE constexpr bool operator==(const T& a, const complex<T>& b) {
  return b == a;
}
template <typename T>
C10_HOST_DEVICE constexpr bool operator!=(const complex<T>& a, const complex<T>& b) {
  return !(a == b);
}
template <typename T>
C10_HOST_DEVICE constexpr bool operator!=(const complex<T>& a, const T& b) {
  return !(a == b);
}
template <typename T>
C10_HOST_DEVICE constexpr bool operator!=(const T& a, const complex<T>& b) {
  return !(b == a);
}

/// Prints (real,imag).
template <typename T>
std::ostream& operator<<(std::ostream& out, const complex<T>& value) {
  detail::print_value(out, '(');
  detail::print_any(out, value.real());
  detail::print_value(out, ',');
  detail::print_any(out, value.imag());
  detail::print_value(out, ')');
  return out;
}

inline namespace complex_literals {
constexpr complex<float> operator""_if(long double imag) {
  return complex<float>(0.0f, static_cast<float>(imag));
}
constexpr complex<double> operator""_id(long double imag) {
  return complex<double>(0.0, static_cast<double>(imag));
}
constexpr complex<float> operator""_if(unsigned long long imag) {
  return complex<float>(0.0f, static_cast<float>(imag));
}
constexpr complex<double> operator""_id(unsigned long long imag) {
  return complex<double>(0.0, static_cast<double>(imag));
}
} // namespace complex_literals

} // namespace c10

namespace std {
template <typename T>
class numeric_limits<c10::complex<T>> : public numeric_limits<T> {};
} // namespace std
