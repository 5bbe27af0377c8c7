#include <aten/quantized/quantized_loops.h>

#include <aten/native/support/cpu_isa.h>

namespace at::native {

#define DECLARE_QUANTIZED_LOOPS(level)                                                            \
  namespace level {                                                                               \
  void quantize_bytes(const float*, int64_t, float, float, bool, void*);                          \
  void dequantize_bytes(const void*, int64_t, float, float, bool, float*);                        \
  void add_bytes(const ByteOperand&, const ByteOperand&, int64_t, const ByteResult&);             \
  void max_of_bytes(const uint8_t* const*, int64_t, int64_t, uint8_t*);                           \
  void requantize_row(const float*, int64_t, const float*, const float*, float, float, uint8_t*); \
  }
DECLARE_QUANTIZED_LOOPS(v2)
DECLARE_QUANTIZED_LOOPS(v3)
DECLARE_QUANTIZED_LOOPS(v4)
#undef DECLARE_QUANTIZED_LOOPS

const QuantizedLoops& quantized_loops() {
  static constexpr QuantizedLoops kLoops[] = {
      {v2::quantize_bytes, v2::dequantize_bytes, v2::add_bytes, v2::max_of_bytes, v2::requantize_row},
      {v3::quantize_bytes, v3::dequantize_bytes, v3::add_bytes, v3::max_of_bytes, v3::requantize_row},
      {v4::quantize_bytes, v4::dequantize_bytes, v4::add_bytes, v4::max_of_bytes, v4::requantize_row}};
  return kLoops[cpu_isa_level()];
}

} // namespace at::native
