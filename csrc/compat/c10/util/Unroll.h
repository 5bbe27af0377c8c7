#pragma once

#include <c10/macros/Macros.h>

#include <type_traits>
#include <utility>

namespace c10 {

/// Calls f(integral_constant<int, i>, args...) for i = 0 ... n - 1, unrolled.
template <int n>
struct ForcedUnroll {
  template <typename Func, typename... Args>
  C10_ALWAYS_INLINE_ATTRIBUTE void operator()(const Func& f, Args... args) const {
    if constexpr (n > 0) {
      ForcedUnroll<n - 1>{}(f, args...);
      f(std::integral_constant<int, n - 1>{}, args...);
    }
  }
};

} // namespace c10
