// What the sources of reductions share: inputs by dtype, and results of a dtype known at run time.
#pragma once

#include <aten/native/cuda/reduce.cuh>
#include <c10/util/complex.h>

#include <limits>
#include <type_traits>

namespace at::native::cuda {

template <class T>
inline constexpr bool is_complex = c10::is_complex<T>::value;

template <class Acc>
__device__ inline void store_as(void* data, c10::ScalarType dtype, std::int64_t at, Acc value) {
  using c10::ScalarType;
  if constexpr (std::is_same_v<Acc, std::int64_t>) {
    switch (dtype) {
      case ScalarType::Long:
      case ScalarType::UInt64:
        static_cast<std::int64_t*>(data)[at] = value;
        break;
      case ScalarType::Int:
      case ScalarType::UInt32:
        static_cast<std::int32_t*>(data)[at] = static_cast<std::int32_t>(value);
        break;
      case ScalarType::Short:
      case ScalarType::UInt16:
        static_cast<std::int16_t*>(data)[at] = static_cast<std::int16_t>(value);
        break;
      case ScalarType::Bool:
        static_cast<bool*>(data)[at] = value != 0;
        break;
      default:
        static_cast<std::int8_t*>(data)[at] = static_cast<std::int8_t>(value);
        break;
    }
  } else if constexpr (std::is_same_v<Acc, float>) {
    switch (dtype) {
      case ScalarType::Half:
        static_cast<c10::Half*>(data)[at] = narrow<c10::Half>(value);
        break;
      case ScalarType::BFloat16:
        static_cast<c10::BFloat16*>(data)[at] = narrow<c10::BFloat16>(value);
        break;
      default:
        static_cast<float*>(data)[at] = value;
        break;
    }
  } else {
    static_cast<Acc*>(data)[at] = value;
  }
}

template <class T>
__device__ inline bool not_a_number(T x) {
  return x != x;
}

// f(elements, Math()) for the input's dtype. Integers and bools compute in int64.
template <class F>
void with_integers(const ReduceInput& in, F f) {
  f(IntegerElements{static_cast<const char*>(in.data), in.dtype, static_cast<int>(c10::elementSize(in.dtype))},
    std::int64_t());
}
template <class T, class F>
void with_type(const ReduceInput& in, F f) {
  f(Elements<T>{static_cast<const T*>(in.data)}, opmath_type<T>());
}
template <class F>
void with_floating(const ReduceInput& in, F f) {
  switch (in.dtype) {
    case c10::ScalarType::Half:
      return with_type<c10::Half>(in, f);
    case c10::ScalarType::BFloat16:
      return with_type<c10::BFloat16>(in, f);
    case c10::ScalarType::Float:
      return with_type<float>(in, f);
    default:
      return with_type<double>(in, f);
  }
}
template <class F>
void with_real(const ReduceInput& in, F f) {
  c10::isIntegralType(in.dtype, /*includeBool=*/true) ? with_integers(in, f) : with_floating(in, f);
}
template <class F>
void with_complex(const ReduceInput& in, F f) {
  in.dtype == c10::ScalarType::ComplexFloat ? with_type<c10::complex<float>>(in, f)
                                            : with_type<c10::complex<double>>(in, f);
}
template <class F>
void with_all(const ReduceInput& in, F f) {
  c10::isComplexType(in.dtype) ? with_complex(in, f) : with_real(in, f);
}

} // namespace at::native::cuda
