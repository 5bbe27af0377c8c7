// Numbers of 8 and 16 bits in the machine's registers as float and back, for kernels that are written with intrinsics;
// and Float8 numbers one by one. With AVX-512 in the compile flags these are 16 numbers, with AVX2 also 8.
#pragma once

#include <c10/util/BFloat16.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e5m2.h>
#include <c10/util/Half.h>
#include <csrc/compat/aten/cpu/vec/isa.h>

#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace at::vec {
inline namespace CPU_CAPABILITY {
inline namespace AT_VEC_ISA {

inline float fp8e4m3_to_fp32_scalar(uint8_t bits) {
  return static_cast<float>(c10::Float8_e4m3fn(bits, c10::Float8_e4m3fn::from_bits()));
}
inline uint8_t fp32_to_fp8e4m3_scalar(float value) {
  return c10::Float8_e4m3fn(value).x;
}
inline float fp8e5m2_to_fp32_scalar(uint8_t bits) {
  return static_cast<float>(c10::Float8_e5m2(bits, c10::Float8_e5m2::from_bits()));
}
inline uint8_t fp32_to_fp8e5m2_scalar(float value) {
  return c10::Float8_e5m2(value).x;
}

#if defined(__AVX2__)

namespace lanes {

/// The numbers of a register, each converted, as another register.
template <class To, class From, class Out, class In>
Out converted(const In& in) {
  constexpr int kCount = static_cast<int>(
      sizeof(In) / sizeof(From) < sizeof(Out) / sizeof(To) ? sizeof(In) / sizeof(From) : sizeof(Out) / sizeof(To));
  From from[sizeof(In) / sizeof(From)];
  To to[sizeof(Out) / sizeof(To)] = {};
  std::memcpy(static_cast<void*>(from), &in, sizeof(In));
  for (int i = 0; i < kCount; ++i) {
    to[i] = static_cast<To>(static_cast<float>(from[i]));
  }
  Out out;
  std::memcpy(&out, to, sizeof(Out));
  return out;
}

} // namespace lanes

inline void cvtbf16_fp32(const __m128i& a, __m256& o) {
  o = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(a), 16));
}
inline void cvtbf16_fp32(const __m256i& a, __m256& low, __m256& high) {
  cvtbf16_fp32(_mm256_castsi256_si128(a), low);
  cvtbf16_fp32(_mm256_extracti128_si256(a, 1), high);
}
inline __m128i cvtfp32_bf16(const __m256& a) {
  return lanes::converted<c10::BFloat16, float, __m128i>(a);
}
inline __m256i cvtfp32_bf16(const __m256& low, const __m256& high) {
  return _mm256_set_m128i(cvtfp32_bf16(high), cvtfp32_bf16(low));
}
inline void cvtfp16_fp32(const __m128i& a, __m256& o) {
  o = lanes::converted<float, c10::Half, __m256>(a);
}
inline void cvtfp16_fp32(const __m256i& a, __m256& low, __m256& high) {
  cvtfp16_fp32(_mm256_castsi256_si128(a), low);
  cvtfp16_fp32(_mm256_extracti128_si256(a, 1), high);
}
inline __m128i cvtfp32_fp16(const __m256& a) {
  return lanes::converted<c10::Half, float, __m128i>(a);
}
inline __m256i cvtfp32_fp16(const __m256& low, const __m256& high) {
  return _mm256_set_m128i(cvtfp32_fp16(high), cvtfp32_fp16(low));
}

#endif // __AVX2__

#if defined(__AVX512F__)

inline void cvtbf16_fp32(const __m256i& a, __m512& o) {
  o = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(a), 16));
}
inline void cvtbf16_fp32(const __m512i& a, __m512& low, __m512& high) {
  cvtbf16_fp32(_mm512_castsi512_si256(a), low);
  cvtbf16_fp32(_mm512_extracti64x4_epi64(a, 1), high);
}
inline __m256i cvtfp32_bf16(const __m512& a) {
  return lanes::converted<c10::BFloat16, float, __m256i>(a);
}
inline __m512i cvtfp32_bf16(const __m512& low, const __m512& high) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(cvtfp32_bf16(low)), cvtfp32_bf16(high), 1);
}
inline void cvtfp16_fp32(const __m256i& a, __m512& o) {
  o = _mm512_cvtph_ps(a);
}
inline void cvtfp16_fp32(const __m512i& a, __m512& low, __m512& high) {
  cvtfp16_fp32(_mm512_castsi512_si256(a), low);
  cvtfp16_fp32(_mm512_extracti64x4_epi64(a, 1), high);
}
inline __m256i cvtfp32_fp16(const __m512& a) {
  return _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
inline __m512i cvtfp32_fp16(const __m512& low, const __m512& high) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(cvtfp32_fp16(low)), cvtfp32_fp16(high), 1);
}

/// 16 Float8 numbers.
inline void cvtfp8e4m3_fp32(const __m128i& a, __m512& o) {
  o = lanes::converted<float, c10::Float8_e4m3fn, __m512>(a);
}
inline __m128i cvtfp32_fp8e4m3(const __m512& a) {
  return lanes::converted<c10::Float8_e4m3fn, float, __m128i>(a);
}
inline void cvtfp8e5m2_fp32(const __m128i& a, __m512& o) {
  o = lanes::converted<float, c10::Float8_e5m2, __m512>(a);
}
inline __m128i cvtfp32_fp8e5m2(const __m512& a) {
  return lanes::converted<c10::Float8_e5m2, float, __m128i>(a);
}

#endif // __AVX512F__

} // namespace AT_VEC_ISA
} // namespace CPU_CAPABILITY
} // namespace at::vec
