// Loops over the integers of quantized tensors. The compiler makes vectors of them; products and sums are rounded one
// by one (-ffp-contract=off), so that results are those of any instruction set.
#include <aten/quantized/quantized_loops.h>

#include <algorithm>

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
  for (int64_t i = 0; i < n; ++i) {
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
