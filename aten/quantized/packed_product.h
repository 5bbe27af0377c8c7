#pragma once
// The product behind packed_linear, for kernels that have lines of their own.

#include <aten/core/Tensor.h>
#include <aten/quantized/packed_view.h>

namespace at::native {

/// x [rows, inputs], of float32, bfloat16 or half, times the transpose of the weight, plus `bias` (float32 [outputs],
/// or undefined), as float32 [rows, outputs]. With `int8_activations` rows are rounded to 8-bit codes.
Tensor packed_product(const PackedView& w, const Tensor& x, const Tensor& bias, bool int8_activations);

/// The exact sums of (x - 128) * code over the inputs of each row of x, [rows, inputs] of bytes, plus `shifts`
/// ([panels][16]) of the output, rounded to float32 [rows, outputs]. The weight has 8 bits, one group, and scales of 1.
void packed_sums(const PackedView& w, const uint8_t* x, int64_t rows, const int32_t* shifts, float* out);

} // namespace at::native
