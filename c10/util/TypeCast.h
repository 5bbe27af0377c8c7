#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e4m3fnuz.h>
#include <c10/util/Float8_e5m2.h>
#include <c10/util/Float8_e5m2fnuz.h>
#include <c10/util/Float8_e8m0fnu.h>
#include <c10/util/Half.h>
#include <c10/util/complex_type.h>
#include <c10/util/overflows.h>

#include <cstdint>
#include <type_traits>

namespace c10 {

template <typename dest_t, typename src_t>
struct needs_real {
  static constexpr bool value = is_complex<src_t>::value && !is_complex<dest_t>::value;
};

namespace detail {
template <typename T>
inline constexpr bool is_reduced_v = !std::is_arithmetic_v<T> && !is_complex<T>::value && !std::is_enum_v<T>;
} // namespace detail

/// Converts as an assignment between elements of tensors does: complex numbers lose their imaginary part (except to
/// bool), numbers out of range of an unsigned byte wrap where the hardware allows.
template <typename To, typename From>
C10_HOST_DEVICE C10_ALWAYS_INLINE __ubsan_ignore_undefined__ To convert(From from) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else if constexpr (is_complex<To>::value && is_complex<From>::value) {
    using Wide = typename To::value_type;
    if constexpr (std::is_same_v<Wide, Half>) {
      return To(Half(static_cast<float>(from.real())), Half(static_cast<float>(from.imag())));
    } else {
      return To(static_cast<Wide>(from.real()), static_cast<Wide>(from.imag()));
    }
  } else if constexpr (is_complex<From>::value) {
    if constexpr (std::is_same_v<To, bool>) {
      return static_cast<bool>(from);
    } else {
      return convert<To>(from.real());
    }
  } else if constexpr (is_complex<To>::value) {
    return To(convert<typename To::value_type>(from));
  } else if constexpr (std::is_same_v<To, uint8_t> && !std::is_integral_v<From>) {
    // A float below zero has no uint8_t in C; through int64_t it wraps as integers do.
    return static_cast<uint8_t>(static_cast<int64_t>(from));
  } else if constexpr (std::is_same_v<To, bool> && detail::is_reduced_v<From>) {
    return static_cast<float>(from) != 0.0f;
  } else if constexpr (detail::is_reduced_v<To> && !std::is_same_v<From, float>) {
    return To(static_cast<float>(from));
  } else if constexpr (detail::is_reduced_v<From> && !std::is_same_v<To, float>) {
    return static_cast<To>(static_cast<float>(from));
  } else {
    return static_cast<To>(from);
  }
}

/// libtorch's older spelling of convert.
template <typename dest_t, typename src_t>
struct static_cast_with_inter_type {
  C10_HOST_DEVICE static inline dest_t apply(src_t src) {
    return convert<dest_t, src_t>(src);
  }
};

[[noreturn]] C10_API void report_overflow(const char* name);

/// convert that throws std::runtime_error when the value does not fit `To`, which the message calls `name`.
template <typename To, typename From>
To checked_convert(From f, const char* name) {
  if (!std::is_same_v<To, bool> && overflows<To, From>(f)) {
    report_overflow(name);
  }
  return convert<To, From>(f);
}

} // namespace c10
