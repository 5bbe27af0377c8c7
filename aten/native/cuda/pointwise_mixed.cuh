// Elements of a dtype that is known only when a kernel runs: they are read by their size, several at once, and
// converted then, so that reads of all operands are under way before the first is looked at. The dtype is the same for
// all threads of a launch.
//
// Conversions are functions of their own, which the kernels of a source share: for each type that is computed in there
// is one for all dtypes, where kernels for all pairs of dtypes would make the plugin many times as large.
#pragma once

#include <aten/native/cuda/memory_access.cuh>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace at::native::cuda {

// bool < integers < floating < complex: operands are promoted upwards alone, and results may be stored upwards alone.
template <class T>
inline constexpr int dtype_kind = c10::is_complex<T>::value ? 3
    : std::is_same_v<T, bool>                               ? 0
    : std::is_integral_v<T>                                 ? 1
                                                            : 2;

/// The bytes of some elements, in registers.
template <int Words>
struct RawElements {
  std::uint32_t words[Words];
};

/// Room for K elements of any dtype that may be promoted to T.
template <class T, int K>
using raw_elements_for = RawElements<
    (K *
         (dtype_kind<T> == 0       ? 1
              : dtype_kind<T> == 3 ? 16
                                   : 8) +
     3) /
    4>;

template <int Bytes, int Words>
__device__ inline void load_bytes(RawElements<Words>& raw, const char* from) {
  if constexpr (Bytes > 4 * Words) {
    return; // elements of that size are not for here
  } else if constexpr (Bytes >= 4) {
    const auto block = *reinterpret_cast<const Aligned<std::uint32_t, Bytes / 4>*>(from);
#pragma unroll
    for (int i = 0; i < Bytes / 4; ++i) {
      raw.words[i] = block.values[i];
    }
  } else if constexpr (Bytes == 2) {
    raw.words[0] = *reinterpret_cast<const std::uint16_t*>(from);
  } else {
    raw.words[0] = *reinterpret_cast<const std::uint8_t*>(from);
  }
}

/// Reads K elements of `size` bytes that lie side by side, at a multiple of their bytes or of 16.
template <int K, int Words>
__device__ inline void load_raw(RawElements<Words>& raw, const char* from, int size) {
  switch (size) {
    case 1:
      return load_bytes<K>(raw, from);
    case 2:
      return load_bytes<K * 2>(raw, from);
    case 4:
      return load_bytes<K * 4>(raw, from);
    case 8:
      return load_bytes<K * 8>(raw, from);
    default:
      return load_bytes<K * 16>(raw, from);
  }
}

template <class From, int Words>
__device__ inline From raw_element(const RawElements<Words>& raw, int k) {
  constexpr int kSize = sizeof(From);
  if constexpr (kSize >= 4) {
    From value;
    std::memcpy(static_cast<void*>(&value), raw.words + k * (kSize / 4), sizeof(From));
    return value;
  } else {
    using Bits = std::conditional_t<kSize == 2, std::uint16_t, std::uint8_t>;
    constexpr int kPerWord = 4 / kSize;
    const auto bits = static_cast<Bits>(raw.words[k / kPerWord] >> (8 * kSize * (k % kPerWord)));
    if constexpr (std::is_same_v<From, bool>) {
      return bits != 0;
    } else {
      From value;
      std::memcpy(static_cast<void*>(&value), &bits, sizeof(From));
      return value;
    }
  }
}

/// Calls visit.at<T>() for the C++ type of a dtype.
template <class Visit>
__device__ inline void visit_dtype(c10::ScalarType dtype, const Visit& visit) {
  using c10::ScalarType;
  switch (dtype) {
    case ScalarType::Bool:
      return visit.template at<bool>();
    case ScalarType::Byte:
      return visit.template at<std::uint8_t>();
    case ScalarType::Char:
      return visit.template at<std::int8_t>();
    case ScalarType::Short:
      return visit.template at<std::int16_t>();
    case ScalarType::Int:
      return visit.template at<std::int32_t>();
    case ScalarType::Long:
      return visit.template at<std::int64_t>();
    case ScalarType::UInt16:
      return visit.template at<std::uint16_t>();
    case ScalarType::UInt32:
      return visit.template at<std::uint32_t>();
    case ScalarType::UInt64:
      return visit.template at<std::uint64_t>();
    case ScalarType::Half:
      return visit.template at<c10::Half>();
    case ScalarType::BFloat16:
      return visit.template at<c10::BFloat16>();
    case ScalarType::Float:
      return visit.template at<float>();
    case ScalarType::Double:
      return visit.template at<double>();
    case ScalarType::ComplexHalf:
      return visit.template at<c10::complex<c10::Half>>();
    case ScalarType::ComplexFloat:
      return visit.template at<c10::complex<float>>();
    default:
      return visit.template at<c10::complex<double>>();
  }
}

/// K elements in the type that they are computed in, or stored in.
template <class T, int K>
struct ElementGroup {
  T values[K];
};

template <class T, int K, int Words>
struct PromoteRaw {
  template <class From>
  __device__ void at() const {
    if constexpr (dtype_kind<From> <= dtype_kind<T>) {
#pragma unroll
      for (int k = 0; k < K; ++k) {
        to.values[k] = widen(c10::convert<T>(raw_element<From>(raw, k)));
      }
    }
  }
  ElementGroup<opmath_type<T>, K>& to;
  const RawElements<Words>& raw;
};

/// Elements of `dtype` as ones of T, widened to what those are computed in.
template <class T, int K, int Words>
__device__ __noinline__ ElementGroup<opmath_type<T>, K> promote_raw(RawElements<Words> raw, c10::ScalarType dtype) {
  ElementGroup<opmath_type<T>, K> result = {};
  visit_dtype(dtype, PromoteRaw<T, K, Words>{result, raw});
  return result;
}

template <class Out, int K>
struct StoreAs {
  template <class To>
  __device__ void at() const {
    if constexpr (dtype_kind<Out> <= dtype_kind<To>) {
      Aligned<To, K> block;
#pragma unroll
      for (int k = 0; k < K; ++k) {
        block.values[k] = c10::convert<To>(results.values[k]);
      }
      *reinterpret_cast<Aligned<To, K>*>(to) = block;
    }
  }
  char* to;
  const ElementGroup<Out, K>& results;
};

/// Stores results as elements of `dtype`, side by side.
template <class Out, int K>
__device__ __noinline__ void store_as(char* to, ElementGroup<Out, K> results, c10::ScalarType dtype) {
  visit_dtype(dtype, StoreAs<Out, K>{to, results});
}

} // namespace at::native::cuda
