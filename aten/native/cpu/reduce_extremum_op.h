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
  Acc map(T x) const {
    return static_cast<Acc>(x);
  }
  T value(Acc key) const {
    return static_cast<T>(key);
  }
  Acc combine(Acc a, Acc b) const {
    // Two choices, each of which is an instruction of vectors, where one with || would be a branch.
    const bool first = Max ? a > b : a < b;
    const Acc extreme = first ? a : b;
    return a != a ? a : extreme;
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

// The larger of two keys. A key is the element, or its mirror image where the smallest is asked for: ~x for integers,
// -x for floating numbers. So one loop serves both, and integers of one width share it whatever their sign: all but the
// dtypes that programs reduce most, which have a loop for each.
template <class T>
struct IntegerKey {
  static_assert(std::is_signed_v<T>);
  using In = T;
  using Acc = T;
  static constexpr bool kCommutative = true;
  T flipped; // bits

  IntegerKey(bool largest, bool is_unsigned)
      : flipped(static_cast<T>((largest ? T(0) : T(-1)) ^ (is_unsigned ? std::numeric_limits<T>::min() : T(0)))) {}
  Acc identity() const {
    return std::numeric_limits<T>::min();
  }
  Acc map(T x) const {
    return static_cast<T>(x ^ flipped);
  }
  Acc combine(Acc a, Acc b) const {
    return a > b ? a : b;
  }
  T value(Acc key) const {
    return map(key);
  }
  static bool replaces(Acc a, Acc b) {
    return a > b;
  }
};

template <class T>
struct FloatKey {
  using In = T;
  using Acc = CompareType<T>;
  Acc sign;

  explicit FloatKey(bool largest) : sign(largest ? Acc(1) : Acc(-1)) {}
  Acc identity() const {
    return Largest<Acc>{}.identity();
  }
  Acc map(Acc x) const {
    return x * sign;
  }
  Acc combine(Acc a, Acc b) const {
    return Largest<Acc>{}.combine(a, b);
  }
  T value(Acc key) const {
    return static_cast<T>(key * sign);
  }
  static bool replaces(Acc a, Acc b) {
    return Largest<Acc>::replaces(a, b);
  }
};

/// The dtype of integers with a sign that has the width of an unsigned one or of bool; any other dtype as it is.
constexpr ScalarType signed_of_width(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Bool:
    case ScalarType::Byte:
      return ScalarType::Char;
    case ScalarType::UInt16:
      return ScalarType::Short;
    case ScalarType::UInt32:
      return ScalarType::Int;
    case ScalarType::UInt64:
      return ScalarType::Long;
    default:
      return dtype;
  }
}

/// Calls f(operation, input pointer) for the largest or the smallest element of an ordered dtype; bool comes as bytes.
template <class F>
void with_extremum(const char* name, const TensorBase& self, bool largest, const F& f) {
  const void* in = self.const_data_ptr();
  const ScalarType dtype = signed_of_width(self.scalar_type());
  dispatch(name, dtype, kIntegral | kFloating, [&]<class T> {
    if constexpr (std::is_integral_v<T>) {
      using Signed = std::make_signed_t<T>;
      f(IntegerKey<Signed>(largest, /*is_unsigned=*/dtype != self.scalar_type()), static_cast<const Signed*>(in));
    } else if constexpr (std::is_same_v<T, float>) {
      largest ? f(Largest<T>{}, static_cast<const T*>(in)) : f(Smallest<T>{}, static_cast<const T*>(in));
    } else {
      f(FloatKey<T>(largest), static_cast<const T*>(in));
    }
  });
}

} // namespace
} // namespace CPU_CAPABILITY
} // namespace at::native
