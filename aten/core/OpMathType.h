// The type in which an operator computes on elements of a given type.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e5m2.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>

namespace at {

/// `OpMathType<T>::type`: float for the 16- and 8-bit floating types, T itself otherwise.
template <class T>
struct OpMathType {
  using type = T;
};
template <>
struct OpMathType<c10::Half> {
  using type = float;
};
template <>
struct OpMathType<c10::BFloat16> {
  using type = float;
};
template <>
struct OpMathType<c10::Float8_e5m2> {
  using type = float;
};
template <>
struct OpMathType<c10::Float8_e4m3fn> {
  using type = float;
};
template <>
struct OpMathType<c10::complex<c10::Half>> {
  using type = c10::complex<float>;
};

template <class T>
using opmath_type = typename OpMathType<T>::type;

/// The dtype of opmath_type for a run-time dtype.
using c10::toOpMathType;

} // namespace at
