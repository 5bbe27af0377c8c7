// Loops over the integers of quantized tensors. The compiler makes vectors of them; products and sums are rounded one
// by one (-ffp-contract=off), so that results are those of any instruction set.
#include <aten/quantized/quantized_loops.h>

#include <algorithm>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {
namespace quantized_loops {

/// round(x) + zero within [low, high], which are whole numbers as zero is. NaN becomes low.
inline float rounded(float x, float zero, float low, float high) {
  const float value = __builtin_rintf(x) + zero;
  return value >= low ? (value < high ? value : high) : low;
}

template <class T>
void quantize(const float* x, int64_t n, float inverse, float zero, T* out) {
  constexpr float kLow = std::is_signed_v<T> ? -128 : 0, kHigh = std::is_signed_v<T> ? 127 : 255;
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<T>(static_cast<int>(rounded(x[i] * inverse, zero, kLow, kHigh)));
  }
}

template <class T>
void dequantize(const T* x, int64_t n, float scale, float zero, float* out) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = (static_cast<float>(x[i]) - zero) * scale;
  }
}

#if defined(__AVX512F__)
__m512 numbers_of_bytes(const uint8_t* bytes, __m512 zero, __m512 scale) {
  const __m512i wide = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)));
  return _mm512_mul_ps(_mm512_sub_ps(_mm512_cvtepi32_ps(wide), zero), scale);
}

/// 16 bytes at a time, as many as fit `n`; gives how many. Conversions to integers round, and saturate to bytes, so
/// this takes two thirds of the time of what the compiler makes of the loop.
int64_t add_blocks(const ByteOperand& a, const ByteOperand& b, int64_t n, const ByteResult& to) {
  constexpr int kMost = 1 << 30; // beyond all bytes, and far from the ends of int32
  const __m512 a_zero = _mm512_set1_ps(a.zero), a_scale = _mm512_set1_ps(a.scale);
  const __m512 b_zero = _mm512_set1_ps(b.zero), b_scale = _mm512_set1_ps(b.scale);
  const __m512 inverse = _mm512_set1_ps(to.inverse), most = _mm512_set1_ps(static_cast<float>(kMost));
  const __m512i zero = _mm512_set1_epi32(static_cast<int>(to.zero)), low = _mm512_set1_epi32(static_cast<int>(to.low));
  const __m512i least = _mm512_set1_epi32(-kMost);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m512 sum =
        _mm512_add_ps(numbers_of_bytes(a.data + i, a_zero, a_scale), numbers_of_bytes(b.data + i, b_zero, b_scale));
    // NaN passes min and becomes the least integer, as what is below all integers does.
    const __m512i steps = _mm512_cvtps_epi32(_mm512_min_ps(most, _mm512_mul_ps(sum, inverse)));
    const __m512i moved = _mm512_max_epi32(_mm512_add_epi32(_mm512_max_epi32(steps, least), zero), low);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to.data + i), _mm512_cvtusepi32_epi8(moved));
  }
  return i;
}
#endif

} // namespace quantized_loops
} // namespace

void quantize_bytes(const float* x, int64_t n, float inverse, float zero, bool is_signed, void* out) {
  if (is_signed) {
    quantized_loops::quantize(x, n, inverse, zero, static_cast<int8_t*>(out));
  } else {
    quantized_loops::quantize(x, n, inverse, zero, static_cast<uint8_t*>(out));
  }
}

void dequantize_bytes(const void* x, int64_t n, float scale, float zero, bool is_signed, float* out) {
  if (is_signed) {
    quantized_loops::dequantize(static_cast<const int8_t*>(x), n, scale, zero, out);
  } else {
    quantized_loops::dequantize(static_cast<const uint8_t*>(x), n, scale, zero, out);
  }
}

void add_bytes(const ByteOperand& a, const ByteOperand& b, int64_t n, const ByteResult& to) {
  const uint8_t *x = a.data, *y = b.data;
  uint8_t* out = to.data;
  const float a_scale = a.scale, a_zero = a.zero, b_scale = b.scale, b_zero = b.zero;
  const float inverse = to.inverse, zero = to.zero, low = to.low;
  int64_t i = 0;
#if defined(__AVX512F__)
  i = quantized_loops::add_blocks(a, b, n, to);
#endif
  for (; i < n; ++i) {
    const float sum = (static_cast<float>(x[i]) - a_zero) * a_scale + (static_cast<float>(y[i]) - b_zero) * b_scale;
    out[i] = static_cast<uint8_t>(static_cast<int>(quantized_loops::rounded(sum * inverse, zero, low, 255)));
  }
}

void max_of_bytes(const uint8_t* const* rows, int64_t count, int64_t n, uint8_t* out) {
  constexpr int64_t kBlock = 64;
  using Block = uint8_t __attribute__((vector_size(kBlock)));
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    Block most;
    __builtin_memcpy(&most, rows[0] + i, kBlock);
    for (int64_t row = 1; row < count; ++row) {
      Block other;
      __builtin_memcpy(&other, rows[row] + i, kBlock);
      most = other > most ? other : most;
    }
    __builtin_memcpy(out + i, &most, kBlock);
  }
  for (; i < n; ++i) {
    out[i] = rows[0][i];
    for (int64_t row = 1; row < count; ++row) {
      out[i] = std::max(out[i], rows[row][i]);
    }
  }
}

void requantize_row(
    const float* sums, int64_t n, const float* added, const float* factors, float zero, float low, uint8_t* out) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<uint8_t>(
        static_cast<int>(quantized_loops::rounded((sums[i] + added[i]) * factors[i], zero, low, 255)));
  }
}

} // namespace CPU_CAPABILITY
} // namespace at::native
