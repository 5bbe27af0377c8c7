// From a dtype to a C++ type in .cu sources, which see no tensor headers. The host has checked that the dtype is
// listed.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>
#include <c10/util/complex.h>

#include <cstddef>
#include <cstdint>

namespace at::native::cuda {

/// call(dtype, f) runs f(T()) for the C++ type T of the dtype.
template <class... Ts>
struct OneTypeOf {
  template <class F>
  static void call(c10::ScalarType dtype, F f) {
    const bool known = ((dtype == c10::CppTypeToScalarType<Ts>::value && (f(Ts()), true)) || ...);
    TORCH_INTERNAL_ASSERT(known, "no CUDA kernel for ", dtype);
  }
};

using FloatingTypes = OneTypeOf<c10::Half, c10::BFloat16, float, double>;
using FloatingOrComplexTypes =
    OneTypeOf<c10::Half, c10::BFloat16, float, double, c10::complex<float>, c10::complex<double>>;
using RealTypes = OneTypeOf<
    std::uint8_t,
    std::int8_t,
    std::int16_t,
    std::int32_t,
    std::int64_t,
    c10::Half,
    c10::BFloat16,
    float,
    double>;

struct alignas(16) Bytes16 {
  std::uint64_t parts[2];
};

/// f(W()) for a type of `size` bytes: for kernels that only move elements.
template <class F>
void with_word(std::size_t size, F f) {
  switch (size) {
    case 1:
      return f(std::uint8_t());
    case 2:
      return f(std::uint16_t());
    case 4:
      return f(std::uint32_t());
    case 8:
      return f(std::uint64_t());
    default:
      return f(Bytes16());
  }
}

/// Blocks of `threads` for n > 0 pieces of work.
inline unsigned blocks_of(std::int64_t n, int threads) {
  return static_cast<unsigned>((n + threads - 1) / threads);
}

} // namespace at::native::cuda
