#pragma once
// Loops over the integers of quantized tensors, for the instruction set of the processor.

#include <cstdint>
#include <type_traits>

namespace at::native {

/// Bytes that stand for (byte - zero) * scale.
struct ByteOperand {
  const uint8_t* data;
  float scale, zero;
};
/// Where bytes go that stand for the same with scale 1 / inverse; none is below `low`.
struct ByteResult {
  uint8_t* data;
  float inverse, zero, low;
};

/// The functions of aten/native/cpu/quantized_loops.cpp.
struct QuantizedLoops {
  /// round(x * inverse) + zero of `n` numbers, as uint8 or int8.
  void (*quantize)(const float* x, int64_t n, float inverse, float zero, bool is_signed, void* out);
  /// (x - zero) * scale.
  void (*dequantize)(const void* x, int64_t n, float scale, float zero, bool is_signed, float* out);
  void (*add)(const ByteOperand& a, const ByteOperand& b, int64_t n, const ByteResult& to);
  /// The largest of `count` rows of `n` bytes, element by element; there is at least one.
  void (*max)(const uint8_t* const* rows, int64_t count, int64_t n, uint8_t* out);
  /// round((sums + added) * factors) + zero, at least `low`.
  void (*requantize)(
      const float* sums, int64_t n, const float* added, const float* factors, float zero, float low, uint8_t* out);
};
const QuantizedLoops& quantized_loops();

} // namespace at::native
