#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/complex_type.h>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace c10 {

namespace detail {

// From integers.
template <typename To, typename From>
constexpr bool integral_overflows(From f, bool strict_unsigned) {
  using Limit = std::numeric_limits<typename scalar_value_type<To>::type>;
  if constexpr (Limit::is_integer) {
    if constexpr (!Limit::is_signed && std::is_signed_v<From>) {
      // By default -1 may become 255, as in C; but -300 may not become a byte.
      if (f < 0) {
        return strict_unsigned || uint64_t{0} - static_cast<uint64_t>(f) > static_cast<uint64_t>(Limit::max());
      }
      return static_cast<uint64_t>(f) > static_cast<uint64_t>(Limit::max());
    } else if constexpr (std::is_signed_v<From>) {
      return static_cast<int64_t>(f) < static_cast<int64_t>(Limit::lowest()) ||
          static_cast<int64_t>(f) > static_cast<int64_t>(Limit::max());
    } else {
      return static_cast<uint64_t>(f) > static_cast<uint64_t>(Limit::max());
    }
  } else {
    const auto value = static_cast<double>(f);
    return value < static_cast<double>(Limit::lowest()) || value > static_cast<double>(Limit::max());
  }
}

// From floating-point numbers.
template <typename To, typename From>
bool floating_overflows(From f) {
  using Limit = std::numeric_limits<typename scalar_value_type<To>::type>;
  const auto value = static_cast<double>(f);
  if constexpr (Limit::has_infinity) {
    if (value == std::numeric_limits<double>::infinity() || value == -std::numeric_limits<double>::infinity()) {
      return false;
    }
  }
  if (value != value) {
    return !Limit::has_quiet_NaN;
  }
  if constexpr (Limit::is_integer) {
    // 2^digits is exact in double where max() itself is not. A fraction is cut off, so -0.5 fits an unsigned type.
    const double bound = static_cast<double>(uint64_t{1} << (Limit::digits - 1)) * 2.0;
    return value >= bound || (Limit::is_signed ? value < -bound : value <= -bound);
  } else {
    return value < static_cast<double>(Limit::lowest()) || value > static_cast<double>(Limit::max());
  }
}

} // namespace detail

/// Whether `f` has no place among the values of To. Nothing overflows bool.
template <typename To, typename From>
bool overflows(From f, bool strict_unsigned = false) {
  if constexpr (std::is_same_v<To, bool> || std::is_same_v<From, bool>) {
    return false;
  } else if constexpr (is_complex<From>::value) {
    if constexpr (is_complex<To>::value) {
      return detail::floating_overflows<To>(static_cast<double>(f.real())) ||
          detail::floating_overflows<To>(static_cast<double>(f.imag()));
    } else {
      return static_cast<double>(f.imag()) != 0.0 || detail::floating_overflows<To>(static_cast<double>(f.real()));
    }
  } else if constexpr (std::is_integral_v<From>) {
    return detail::integral_overflows<To>(f, strict_unsigned);
  } else {
    return detail::floating_overflows<To>(f);
  }
}

} // namespace c10
