#pragma once

#include <c10/macros/Macros.h>

#include <cstdint>
#include <iosfwd>

// Arithmetic of the storage-only floating-point types: compute in float, round once. Mixed with float or double the
// other type wins; mixed with integers the result keeps the reduced type.

#define C10_REDUCED_FLOAT_MIXED_(T, Other, Result)                   \
  C10_HOST_DEVICE C10_ALWAYS_INLINE Result operator+(T a, Other b) { \
    return static_cast<Result>(a) + static_cast<Result>(b);          \
  }                                                                  \
  C10_HOST_DEVICE C10_ALWAYS_INLINE Result operator-(T a, Other b) { \
    return static_cast<Result>(a) - static_cast<Result>(b);          \
  }                                                                  \
  C10_HOST_DEVICE C10_ALWAYS_INLINE Result operator*(T a, Other b) { \
    return static_cast<Result>(a) * static_cast<Result>(b);          \
  }                                                                  \
  C10_HOST_DEVICE C10_ALWAYS_INLINE Result operator/(T a, Other b) { \
    return static_cast<Result>(a) / static_cast<Result>(b);          \
  }                                                                  \
  C10_HOST_DEVICE C10_ALWAYS_INLINE Result operator+(Other a, T b) { \
    return static_cast<Result>(a) + static_cast<Result>(b);          \
  }                                                                  \
  C10_HOST_DEVICE C10_ALWAYS_INLINE Result operator-(Other a, T b) { \
    return static_cast<Result>(a) - static_cast<Result>(b);          \
  }                                                                  \
  C10_HOST_DEVICE C10_ALWAYS_INLINE Result operator*(Other a, T b) { \
    return static_cast<Result>(a) * static_cast<Result>(b);          \
  }                                                                  \
  C10_HOST_DEVICE C10_ALWAYS_INLINE Result operator/(Other a, T b) { \
    return static_cast<Result>(a) / static_cast<Result>(b);          \
  }

#define C10_REDUCED_FLOAT_OPERATORS(T)                                 \
  C10_HOST_DEVICE C10_ALWAYS_INLINE T operator+(T a, T b) {            \
    return T(static_cast<float>(a) + static_cast<float>(b));           \
  }                                                                    \
  C10_HOST_DEVICE C10_ALWAYS_INLINE T operator-(T a, T b) {            \
    return T(static_cast<float>(a) - static_cast<float>(b));           \
  }                                                                    \
  C10_HOST_DEVICE C10_ALWAYS_INLINE T operator*(T a, T b) {            \
    return T(static_cast<float>(a) * static_cast<float>(b));           \
  }                                                                    \
  C10_HOST_DEVICE C10_ALWAYS_INLINE T operator/(T a, T b) {            \
    return T(static_cast<float>(a) / static_cast<float>(b));           \
  }                                                                    \
  C10_HOST_DEVICE C10_ALWAYS_INLINE T operator-(T a) {                 \
    return T(-static_cast<float>(a));                                  \
  }                                                                    \
  C10_HOST_DEVICE C10_ALWAYS_INLINE T& operator+=(T& a, T b) {         \
    return a = T(static_cast<float>(a) + static_cast<float>(b));       \
  }                                                                    \
  C10_HOST_DEVICE C10_ALWAYS_INLINE T& operator-=(T& a, T b) {         \
    return a = T(static_cast<float>(a) - static_cast<float>(b));       \
  }                                                                    \
  C10_HOST_DEVICE C10_ALWAYS_INLINE T& operator*=(T& a, T b) {         \
    return a = T(static_cast<float>(a) * static_cast<float>(b));       \
  }                                                                    \
  C10_HOST_DEVICE C10_ALWAYS_INLINE T& operator/=(T& a, T b) {         \
    return a = T(static_cast<float>(a) / static_cast<float>(b));       \
  }                                                                    \
  C10_HOST_DEVICE C10_ALWAYS_INLINE float& operator+=(float& a, T b) { \
    return a += static_cast<float>(b);                                 \
  }                                                                    \
  C10_HOST_DEVICE C10_ALWAYS_INLINE float& operator-=(float& a, T b) { \
    return a -= static_cast<float>(b);                                 \
  }                                                                    \
  C10_HOST_DEVICE C10_ALWAYS_INLINE float& operator*=(float& a, T b) { \
    return a *= static_cast<float>(b);                                 \
  }                                                                    \
  C10_HOST_DEVICE C10_ALWAYS_INLINE float& operator/=(float& a, T b) { \
    return a /= static_cast<float>(b);                                 \
  }                                                                    \
  C10_REDUCED_FLOAT_MIXED_(T, float, float)                            \
  C10_REDUCED_FLOAT_MIXED_(T, double, double)                          \
  C10_REDUCED_FLOAT_MIXED_(T, int, T)                                  \
  C10_REDUCED_FLOAT_MIXED_(T, int64_t, T)                              \
  C10_API std::ostream& operator<<(std::ostream& out, const T& value);

/// std::numeric_limits of a reduced type: the codes of its special numbers and its widths.
#define C10_REDUCED_FLOAT_LIMITS(                                                                                    \
    T, digits_, digits10_, max_digits10_, min_exp, min_exp10, max_exp, max_exp10, iec559, infinity_, signaling, MIN, \
    LOWEST, MAX, EPSILON, ROUND, INF, NAN_, DENORM)                                                                  \
  namespace std {                                                                                                    \
  template <>                                                                                                        \
  class numeric_limits<c10::T> {                                                                                     \
   public:                                                                                                           \
    static constexpr bool is_specialized = true;                                                                     \
    static constexpr bool is_signed = true;                                                                          \
    static constexpr bool is_integer = false;                                                                        \
    static constexpr bool is_exact = false;                                                                          \
    static constexpr bool has_infinity = infinity_;                                                                  \
    static constexpr bool has_quiet_NaN = true;                                                                      \
    static constexpr bool has_signaling_NaN = signaling;                                                             \
    static constexpr auto has_denorm = numeric_limits<float>::has_denorm;                                            \
    static constexpr auto has_denorm_loss = numeric_limits<float>::has_denorm_loss;                                  \
    static constexpr auto round_style = numeric_limits<float>::round_style;                                          \
    static constexpr bool is_iec559 = iec559;                                                                        \
    static constexpr bool is_bounded = true;                                                                         \
    static constexpr bool is_modulo = false;                                                                         \
    static constexpr int digits = digits_;                                                                           \
    static constexpr int digits10 = digits10_;                                                                       \
    static constexpr int max_digits10 = max_digits10_;                                                               \
    static constexpr int radix = 2;                                                                                  \
    static constexpr int min_exponent = min_exp;                                                                     \
    static constexpr int min_exponent10 = min_exp10;                                                                 \
    static constexpr int max_exponent = max_exp;                                                                     \
    static constexpr int max_exponent10 = max_exp10;                                                                 \
    static constexpr auto traps = numeric_limits<float>::traps;                                                      \
    static constexpr auto tinyness_before = numeric_limits<float>::tinyness_before;                                  \
    static constexpr c10::T min() {                                                                                  \
      return c10::T(MIN, c10::T::from_bits());                                                                       \
    }                                                                                                                \
    static constexpr c10::T lowest() {                                                                               \
      return c10::T(LOWEST, c10::T::from_bits());                                                                    \
    }                                                                                                                \
    static constexpr c10::T max() {                                                                                  \
      return c10::T(MAX, c10::T::from_bits());                                                                       \
    }                                                                                                                \
    static constexpr c10::T epsilon() {                                                                              \
      return c10::T(EPSILON, c10::T::from_bits());                                                                   \
    }                                                                                                                \
    static constexpr c10::T round_error() {                                                                          \
      return c10::T(ROUND, c10::T::from_bits());                                                                     \
    }                                                                                                                \
    static constexpr c10::T infinity() {                                                                             \
      return c10::T(INF, c10::T::from_bits());                                                                       \
    }                                                                                                                \
    static constexpr c10::T quiet_NaN() {                                                                            \
      return c10::T(NAN_, c10::T::from_bits());                                                                      \
    }                                                                                                                \
    static constexpr c10::T signaling_NaN() {                                                                        \
      return c10::T(NAN_, c10::T::from_bits());                                                                      \
    }                                                                                                                \
    static constexpr c10::T denorm_min() {                                                                           \
      return c10::T(DENORM, c10::T::from_bits());                                                                    \
    }                                                                                                                \
  };                                                                                                                 \
  }
