// The larger (or smaller) of two values, where NaN wins. Shared by amax, aminmax, argmax, max.dim and norms.
// Included by kernel sources only.
#pragma once

#include <aten/native/cpu/reduce_arithmetic.h>

#include <limits>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

// The type in which elements are compared: half and bfloat16 as float.
template <class T>
using CompareType = std::conditional_t<std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>, float, T>;

/// Runs f.operator()<T>(input pointer) for an ordered dtype; bool comes as bytes, which are in the same order.
template <class F>
void dispatch_ordered(const char* name, const TensorBase& self, const F& f) {
  if (self.scalar_type() == ScalarType::Bool) {
    return f(static_cast<const uint8_t*>(self.const_data_ptr()));
  }
  dispatch(name, self.scalar_type(), kIntegral | kFloating, [&]<class T> { f(self.const_data_ptr<T>()); });
}

template <class T, bool Max>
struct Extremum {
  using In = T;
  using Acc = CompareType<T>;

  Acc identity() const {
    using limits = std::numeric_limits<Acc>;
    if constexpr (limits::has_infinity) {
      return Max ? -limits::infinity() : limits::infinity();
    } else {
      return Max ? limits::lowest() : limits::max();
    }
  }
  Acc map(T x) const { return static_cast<Acc>(x); }
  Acc combine(Acc a, Acc b) const {
    if constexpr (Max) {
      return (a > b || a != a) ? a : b;
    } else {
      return (a < b || a != a) ? a : b;
    }
  }
  /// Whether a, seen later, replaces b.
  static bool replaces(Acc a, Acc b) {
    if constexpr (Max) {
      return a > b || (a != a && b == b);
    } else {
      return a < b || (a != a && b == b);
    }
  }
};

template <class T>
using Largest = Extremum<T, true>;
template <class T>
using Smallest = Extremum<T, false>;

} // namespace
} // namespace CPU_CAPABILITY
} // namespace at::native
