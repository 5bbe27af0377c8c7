#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/reduced_float_ops.h>
#include <c10/util/small_float.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <iosfwd>
#include <limits>
#include <type_traits>

struct __half;

namespace c10 {

namespace detail {

C10_HOST_DEVICE C10_ALWAYS_INLINE float fp16_ieee_to_fp32_value(uint16_t code) {
#if defined(__CUDA_ARCH__)
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(code));
  return value;
#elif defined(__F16C__) && !defined(__CUDACC__)
  typedef short Codes __attribute__((__vector_size__(16)));
  const Codes codes = {static_cast<short>(code), 0, 0, 0, 0, 0, 0, 0};
  return __builtin_ia32_vcvtph2ps(codes)[0];
#else
  return HalfFormat::to_float(code);
#endif
}

C10_HOST_DEVICE C10_ALWAYS_INLINE uint16_t fp16_ieee_from_fp32_value(float value) {
#if defined(__CUDA_ARCH__)
  uint16_t code;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(code) : "f"(value));
  return code;
#elif defined(__F16C__) && !defined(__CUDACC__)
  typedef float Values __attribute__((__vector_size__(16)));
  const Values values = {value, 0.0f, 0.0f, 0.0f};
  return static_cast<uint16_t>(__builtin_ia32_vcvtps2ph(values, 0)[0]);
#else
  return static_cast<uint16_t>(HalfFormat::from_float(value));
#endif
}

} // namespace detail

/// IEEE binary16, for storage: arithmetic is done in float.
struct alignas(2) Half {
  unsigned short x;

  struct from_bits_t {};
  C10_HOST_DEVICE static constexpr from_bits_t from_bits() {
    return from_bits_t();
  }

  Half() = default;
  C10_HOST_DEVICE constexpr Half(unsigned short bits, from_bits_t) : x(bits) {}
  C10_HOST_DEVICE C10_ALWAYS_INLINE_ATTRIBUTE Half(float value) : x(detail::fp16_ieee_from_fp32_value(value)) {}
  C10_HOST_DEVICE C10_ALWAYS_INLINE_ATTRIBUTE operator float() const {
    return detail::fp16_ieee_to_fp32_value(x);
  }

  // CUDA's type, by bits. Templates, so that its header is needed only by those who convert.
  template <class H, std::enable_if_t<std::is_same_v<H, __half>, int> = 0>
  C10_HOST_DEVICE Half(const H& value) {
    static_assert(sizeof(H) == sizeof(x));
    __builtin_memcpy(&x, &value, sizeof(x));
  }
  template <class H, std::enable_if_t<std::is_same_v<H, __half>, int> = 0>
  C10_HOST_DEVICE operator H() const {
    H value;
    __builtin_memcpy(&value, &x, sizeof(x));
    return value;
  }
};

C10_REDUCED_FLOAT_OPERATORS(Half)

} // namespace c10

C10_REDUCED_FLOAT_LIMITS(
    Half, 11, 3, 5, -13, -4, 16, 4, true, true, true, 0x0400, 0xFBFF, 0x7BFF, 0x1400, 0x3800, 0x7C00, 0x7E00, 0x0001)
