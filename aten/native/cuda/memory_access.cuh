// Loads and stores of kernels: several elements as one aligned access, and 16-bit floats as the float they compute in.
#pragma once

#include <aten/core/OpMathType.h>
#include <c10/util/TypeCast.h>

#include <cstdint>
#include <type_traits>

namespace at::native::cuda {

/// K elements that are read and written in as few instructions as their size allows.
template <class T, int K>
struct alignas(sizeof(T) * K > 16 ? 16 : sizeof(T) * K) Aligned {
  T values[K];
};

/// An element in the type it is computed in.
template <class T>
__device__ inline opmath_type<T> widen(T value) {
  return c10::convert<opmath_type<T>>(value);
}

/// A result in the type it is stored in.
template <class T, class R>
__device__ inline T narrow(R value) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, c10::BFloat16> && std::is_same_v<R, float>) {
    std::uint16_t bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return c10::BFloat16(bits, c10::BFloat16::from_bits());
  }
#endif
  return c10::convert<T>(value);
}

} // namespace at::native::cuda
