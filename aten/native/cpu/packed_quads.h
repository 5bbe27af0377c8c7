#pragma once
// Integer sums of a panel's 16 outputs, a quad of inputs at a time. Every way is exact: codes of weights are 8-bit
// without sign, activations have a sign, and no step saturates.

#include <aten/native/cpu/packed_lines.h>

#include <cstring>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace packed {

#if defined(__AVX512F__)

/// vpdpbusd: products of four bytes are added to a lane of 32 bits. As assembly, since level v4 does not imply it; it
/// is used where the processor has it.
struct VnniQuads {
  using Code = int8_t;
  using Quad = __m512i;
  static constexpr int kMostRows = 8;

  struct Sums {
    __m512i lanes;
    VEC_INLINE void set(int32_t start) {
      lanes = _mm512_set1_epi32(start);
    }
    VEC_INLINE void add(const Quad& weights, const Code* x) {
      int32_t four;
      std::memcpy(&four, x, sizeof four);
      __m512i sums = lanes; // a register: what assembly writes is not taken out of an array
      asm("vpdpbusd {%2, %1, %0|%0, %1, %2}" : "+v"(sums) : "v"(weights), "v"(_mm512_set1_epi32(four)));
      lanes = sums;
    }
    VEC_INLINE void add(const Sums& other) {
      lanes = _mm512_add_epi32(lanes, other.lanes);
    }
    VEC_INLINE void totals(const int32_t* shifts, VecFloat* to) const {
      to[0] = VecFloat((VecFloat::raw)_mm512_cvtepi32_ps(_mm512_add_epi32(lanes, _mm512_loadu_si512(shifts))));
    }
  };

  static VEC_INLINE void load(const uint8_t* line, std::integral_constant<int, 8>, Quad* quads) {
    quads[0] = _mm512_loadu_si512(line);
  }
  static VEC_INLINE void load(const uint8_t* line, std::integral_constant<int, 4>, Quad* quads) {
    const __m512i both = _mm512_loadu_si512(line), low = _mm512_set1_epi8(0x0f);
    quads[0] = _mm512_and_si512(both, low);
    quads[1] = _mm512_and_si512(_mm512_srli_epi16(both, 4), low);
  }
};

#endif

#if defined(__AVX2__)

/// vpmaddwd of bytes widened to 16 bits. vpmaddubsw would saturate: 255 * 127 * 2 does not fit 16 bits.
struct WideQuads {
  using Code = int16_t;
  struct Quad {
    __m256i parts[4];
  };
  static constexpr int kMostRows = 2;

  struct Sums {
    __m256i parts[4]; // two lanes for each output
    VEC_INLINE void set(int32_t start) {
      unrolled<4>([&](auto i)
                      __attribute__((always_inline)) { parts[i] = _mm256_set1_epi64x(static_cast<uint32_t>(start)); });
    }
    VEC_INLINE void add(const Quad& weights, const Code* x) {
      int64_t four;
      std::memcpy(&four, x, sizeof four);
      const __m256i all = _mm256_set1_epi64x(four);
      unrolled<4>([&](auto i) __attribute__((always_inline)) {
        parts[i] = _mm256_add_epi32(parts[i], _mm256_madd_epi16(weights.parts[i], all));
      });
    }
    VEC_INLINE void add(const Sums& other) {
      unrolled<4>([&](auto i)
                      __attribute__((always_inline)) { parts[i] = _mm256_add_epi32(parts[i], other.parts[i]); });
    }
    VEC_INLINE void totals(const int32_t* shifts, VecFloat* to) const {
      alignas(64) float numbers[kPanelOutputs];
      unrolled<2>([&](auto i) __attribute__((always_inline)) {
        const __m256i sums = _mm256_hadd_epi32(parts[2 * i], parts[2 * i + 1]);
        const __m256i shift = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(shifts + 8 * i));
        _mm256_store_ps(
            numbers + 8 * i, _mm256_cvtepi32_ps(_mm256_add_epi32(_mm256_permute4x64_epi64(sums, 0xd8), shift)));
      });
      unrolled<kRegisters>([&](auto r)
                               __attribute__((always_inline)) { to[r] = VecFloat::load(numbers + r * kLanes); });
    }
  };

  static VEC_INLINE void load(const uint8_t* line, std::integral_constant<int, 8>, Quad* quads) {
    unrolled<4>([&](auto i) __attribute__((always_inline)) {
      quads[0].parts[i] = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(line) + i));
    });
  }
  static VEC_INLINE void load(const uint8_t* line, std::integral_constant<int, 4>, Quad* quads) {
    const __m256i low = _mm256_set1_epi16(0x0f);
    unrolled<4>([&](auto i) __attribute__((always_inline)) {
      const __m256i both = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(line) + i));
      quads[0].parts[i] = _mm256_and_si256(both, low);
      quads[1].parts[i] = _mm256_srli_epi16(both, 4);
    });
  }
};

#else

/// The same with 128 bits.
struct WideQuads {
  using Code = int16_t;
  struct Quad {
    __m128i parts[8];
  };
  static constexpr int kMostRows = 1;

  struct Sums {
    __m128i parts[8]; // two lanes for each output
    VEC_INLINE void set(int32_t start) {
      unrolled<8>([&](auto i)
                      __attribute__((always_inline)) { parts[i] = _mm_set1_epi64x(static_cast<uint32_t>(start)); });
    }
    VEC_INLINE void add(const Quad& weights, const Code* x) {
      int64_t four;
      std::memcpy(&four, x, sizeof four);
      const __m128i all = _mm_set1_epi64x(four);
      unrolled<8>([&](auto i) __attribute__((always_inline)) {
        parts[i] = _mm_add_epi32(parts[i], _mm_madd_epi16(weights.parts[i], all));
      });
    }
    VEC_INLINE void add(const Sums& other) {
      unrolled<8>([&](auto i) __attribute__((always_inline)) { parts[i] = _mm_add_epi32(parts[i], other.parts[i]); });
    }
    VEC_INLINE void totals(const int32_t* shifts, VecFloat* to) const {
      unrolled<kRegisters>([&](auto r) __attribute__((always_inline)) {
        const __m128i shift = _mm_loadu_si128(reinterpret_cast<const __m128i*>(shifts + 4 * r));
        to[r] = VecFloat(
            (VecFloat::raw)_mm_cvtepi32_ps(_mm_add_epi32(_mm_hadd_epi32(parts[2 * r], parts[2 * r + 1]), shift)));
      });
    }
  };

  static VEC_INLINE void load(const uint8_t* line, std::integral_constant<int, 8>, Quad* quads) {
    unrolled<8>([&](auto i) __attribute__((always_inline)) {
      quads[0].parts[i] = _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(line + 8 * i)));
    });
  }
  static VEC_INLINE void load(const uint8_t* line, std::integral_constant<int, 4>, Quad* quads) {
    const __m128i low = _mm_set1_epi16(0x0f);
    unrolled<8>([&](auto i) __attribute__((always_inline)) {
      const __m128i both = _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(line + 8 * i)));
      quads[0].parts[i] = _mm_and_si128(both, low);
      quads[1].parts[i] = _mm_srli_epi16(both, 4);
    });
  }
};

#endif

} // namespace packed
} // namespace CPU_CAPABILITY
} // namespace at::native
