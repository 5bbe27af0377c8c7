#pragma once

#include <c10/util/Exception.h>
#include <csrc/compat/c10/util/TypeSafeSignMath.h>

#include <type_traits>

namespace c10 {

/// An integer in another integral type. Throws when it does not fit.
template <typename To, typename From>
To safe_conv(From f, const char* name = nullptr) {
  static_assert(
      std::is_integral_v<To> && !std::is_same_v<To, bool>, "safe_conv requires an integral, non-bool destination type");
  static_assert(
      std::is_integral_v<From> && !std::is_same_v<From, bool>, "safe_conv requires an integral, non-bool source type");
  TORCH_CHECK(
      !c10::less_than_lowest<To>(f) && !c10::greater_than_max<To>(f),
      "value cannot be safely converted without overflow: ", name != nullptr ? name : "<unknown>", " is ", +f);
  return static_cast<To>(f);
}

} // namespace c10
